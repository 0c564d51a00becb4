// Translation of operating-system errors.
// Called by file access; the table follows the Win32 code of the same condition.
#include "base/error.h"

#include <cerrno>

namespace owml {

HRESULT HresultFromErrno(int error_number) noexcept {
  switch (error_number) {
    case ENOENT:
      return HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
    case ENOTDIR:
      return HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
    case EACCES:
    case EPERM:
      return E_ACCESSDENIED;
    case ENOMEM:
      return E_OUTOFMEMORY;
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return E_INVALIDARG;
    case ENOSPC:
      return HRESULT_FROM_WIN32(ERROR_DISK_FULL);
    case EMFILE:
    case ENFILE:
      return HRESULT_FROM_WIN32(ERROR_TOO_MANY_OPEN_FILES);
    default:
      return E_FAIL;
  }
}

void ThrowErrno(int error_number, const std::string& what) {
  throw Error(HresultFromErrno(error_number), what + ": " + std::generic_category().message(error_number));
}

}  // namespace owml
