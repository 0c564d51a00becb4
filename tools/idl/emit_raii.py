def emit_raii(model):
    return "#pragma once\n"
