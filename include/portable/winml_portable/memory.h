// CoTaskMem memory, BSTR strings and the thread's error object; libwinml_runtime exports the functions.
// Reached through objbase.h, combaseapi.h, oleauto.h and windows.h of this folder.
#ifndef WINML_PORTABLE_MEMORY_H_
#define WINML_PORTABLE_MEMORY_H_

#include "unknown.h"

/// Memory that crosses the interface and is freed on the other side. Null when there is none left; free takes null.
STDAPI_(void*) CoTaskMemAlloc(SIZE_T byteCount);
STDAPI_(void*) CoTaskMemRealloc(void* memory, SIZE_T byteCount);
STDAPI_(void) CoTaskMemFree(void* memory);

/// Strings that know their length. The length counts characters, without the terminator; null has length 0.
STDAPI_(BSTR) SysAllocString(const OLECHAR* text);
STDAPI_(BSTR) SysAllocStringLen(const OLECHAR* text, UINT length);
STDAPI_(UINT) SysStringLen(BSTR text);
STDAPI_(void) SysFreeString(BSTR text);

typedef struct IErrorInfo IErrorInfo;
typedef struct ICreateErrorInfo ICreateErrorInfo;

#if defined(__cplusplus) && !defined(CINTERFACE)
/// What went wrong in the last failed call of this thread. The caller frees the strings with SysFreeString.
MIDL_INTERFACE("1cf2b120-547d-101b-8e65-08002b2bd119")
IErrorInfo : public IUnknown {
 public:
  virtual HRESULT STDMETHODCALLTYPE GetGUID(GUID * guid) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetSource(BSTR * source) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetDescription(BSTR * description) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetHelpFile(BSTR * helpFile) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetHelpContext(DWORD * helpContext) = 0;

 protected:
  ~IErrorInfo() = default;
};
__CRT_UUID_DECL(IErrorInfo, 0x1cf2b120, 0x547d, 0x101b, 0x8e, 0x65, 0x08, 0x00, 0x2b, 0x2b, 0xd1, 0x19)

/// The writing half of an error object.
MIDL_INTERFACE("22f03340-547d-101b-8e65-08002b2bd119")
ICreateErrorInfo : public IUnknown {
 public:
  virtual HRESULT STDMETHODCALLTYPE SetGUID(REFGUID guid) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetSource(LPOLESTR source) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetDescription(LPOLESTR description) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetHelpFile(LPOLESTR helpFile) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetHelpContext(DWORD helpContext) = 0;

 protected:
  ~ICreateErrorInfo() = default;
};
__CRT_UUID_DECL(ICreateErrorInfo, 0x22f03340, 0x547d, 0x101b, 0x8e, 0x65, 0x08, 0x00, 0x2b, 0x2b, 0xd1, 0x19)
#else
typedef struct IErrorInfoVtbl {
  HRESULT(STDMETHODCALLTYPE* QueryInterface)(IErrorInfo* This, REFIID riid, void** ppvObject);
  ULONG(STDMETHODCALLTYPE* AddRef)(IErrorInfo* This);
  ULONG(STDMETHODCALLTYPE* Release)(IErrorInfo* This);
  HRESULT(STDMETHODCALLTYPE* GetGUID)(IErrorInfo* This, GUID* guid);
  HRESULT(STDMETHODCALLTYPE* GetSource)(IErrorInfo* This, BSTR* source);
  HRESULT(STDMETHODCALLTYPE* GetDescription)(IErrorInfo* This, BSTR* description);
  HRESULT(STDMETHODCALLTYPE* GetHelpFile)(IErrorInfo* This, BSTR* helpFile);
  HRESULT(STDMETHODCALLTYPE* GetHelpContext)(IErrorInfo* This, DWORD* helpContext);
} IErrorInfoVtbl;
struct IErrorInfo {
  const struct IErrorInfoVtbl* lpVtbl;
};
typedef struct ICreateErrorInfoVtbl {
  HRESULT(STDMETHODCALLTYPE* QueryInterface)(ICreateErrorInfo* This, REFIID riid, void** ppvObject);
  ULONG(STDMETHODCALLTYPE* AddRef)(ICreateErrorInfo* This);
  ULONG(STDMETHODCALLTYPE* Release)(ICreateErrorInfo* This);
  HRESULT(STDMETHODCALLTYPE* SetGUID)(ICreateErrorInfo* This, REFGUID guid);
  HRESULT(STDMETHODCALLTYPE* SetSource)(ICreateErrorInfo* This, LPOLESTR source);
  HRESULT(STDMETHODCALLTYPE* SetDescription)(ICreateErrorInfo* This, LPOLESTR description);
  HRESULT(STDMETHODCALLTYPE* SetHelpFile)(ICreateErrorInfo* This, LPOLESTR helpFile);
  HRESULT(STDMETHODCALLTYPE* SetHelpContext)(ICreateErrorInfo* This, DWORD helpContext);
} ICreateErrorInfoVtbl;
struct ICreateErrorInfo {
  const struct ICreateErrorInfoVtbl* lpVtbl;
};
#ifdef COBJMACROS
#define IErrorInfo_QueryInterface(This, riid, ppvObject) ((This)->lpVtbl->QueryInterface(This, riid, ppvObject))
#define IErrorInfo_AddRef(This) ((This)->lpVtbl->AddRef(This))
#define IErrorInfo_Release(This) ((This)->lpVtbl->Release(This))
#define IErrorInfo_GetGUID(This, guid) ((This)->lpVtbl->GetGUID(This, guid))
#define IErrorInfo_GetSource(This, source) ((This)->lpVtbl->GetSource(This, source))
#define IErrorInfo_GetDescription(This, description) ((This)->lpVtbl->GetDescription(This, description))
#define IErrorInfo_GetHelpFile(This, helpFile) ((This)->lpVtbl->GetHelpFile(This, helpFile))
#define IErrorInfo_GetHelpContext(This, helpContext) ((This)->lpVtbl->GetHelpContext(This, helpContext))
#endif
#endif
WINML_PORTABLE_IID(IID_IErrorInfo, 0x1cf2b120, 0x547d, 0x101b, 0x8e, 0x65, 0x08, 0x00, 0x2b, 0x2b, 0xd1, 0x19)
WINML_PORTABLE_IID(IID_ICreateErrorInfo, 0x22f03340, 0x547d, 0x101b, 0x8e, 0x65, 0x08, 0x00, 0x2b, 0x2b, 0xd1, 0x19)

/// Takes the thread's error object away; S_FALSE and null when there is none. `reserved` is 0.
STDAPI GetErrorInfo(ULONG reserved, IErrorInfo** errorInfo);

/// Sets the thread's error object; null clears it. `reserved` is 0.
STDAPI SetErrorInfo(ULONG reserved, IErrorInfo* errorInfo);

/// A fresh error object, to fill and to hand to SetErrorInfo.
STDAPI CreateErrorInfo(ICreateErrorInfo** errorInfo);

/// COM needs no initialisation here. Programs written for Windows may call these two; they change nothing.
#define COINIT_APARTMENTTHREADED 0x2
#define COINIT_MULTITHREADED 0x0
#ifdef __cplusplus
inline HRESULT CoInitializeEx(void*, DWORD) noexcept { return S_OK; }
inline void CoUninitialize() noexcept {}
#else
static inline HRESULT CoInitializeEx(void* reserved, DWORD flags) {
  (void)reserved;
  (void)flags;
  return S_OK;
}
static inline void CoUninitialize(void) {}
#endif

#endif  // WINML_PORTABLE_MEMORY_H_
