// Chat templates of two families of call formats, and replies in them.
// Used by the fuzz target of replies and by the writer of its seeds.
#pragma once

namespace owml::fuzz {

inline constexpr const char* kJsonCalls =
    "{%- if tools %}{{ '<|im_start|>system\\n' }}{%- for tool in tools %}{{ tool | tojson }}{%- endfor %}{{ "
    "'<|im_end|>\\n' }}{%- endif %}"
    "{%- for m in messages %}{%- if m.role == 'assistant' %}{{ '<|im_start|>assistant\\n' }}{%- if m.reasoning_content "
    "%}"
    "{{ '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}{{ m.content }}{%- for call in "
    "m.tool_calls or [] %}"
    "{{ '\\n<tool_call>\\n{\"name\": \"' + call.function.name + '\", \"arguments\": ' }}{{ call.function.arguments | "
    "tojson }}"
    "{{ '}\\n</tool_call>' }}{%- endfor %}{{ '<|im_end|>\\n' }}{%- elif m.role == 'tool' %}{{ "
    "'<|im_start|>user\\n<tool_response>\\n' + "
    "m.content + '\\n</tool_response><|im_end|>\\n' }}{%- else %}{{ '<|im_start|>' + m.role + '\\n' + m.content + "
    "'<|im_end|>\\n' }}"
    "{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}";

inline constexpr const char* kTaggedCalls =
    "{%- if tools %}{{ '<|im_start|>system\\n' }}{%- for tool in tools %}{{ tool | tojson }}{%- endfor %}{{ "
    "'<|im_end|>\\n' }}{%- endif %}"
    "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content }}{%- for call in m.tool_calls or [] %}"
    "{{ '\\n<tool_call>\\n<function=' + call.function.name + '>\\n' }}{%- for key, value in "
    "call.function.arguments|items %}"
    "{{ '<parameter=' + key + '>\\n' }}{{ value }}{{ '\\n</parameter>\\n' }}{%- endfor %}{{ "
    "'</function>\\n</tool_call>' }}{%- endfor %}"
    "{{ '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}";

inline constexpr const char* kReplies[] = {
    "\x01Well, a < b.",
    "\x05<think>\nLet me see.\n</think>\n\nDone.",
    "\x03Let me add.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": \"x\"}}\n</tool_call>",
    ("\x07<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nx\n</parameter>\n</function>\n</"
     "tool_call>"),
    "\x02<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": [[[[",
};

}  // namespace owml::fuzz
