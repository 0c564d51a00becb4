# The version of this package; equal to the project's, which a test checks.
# Read by __init__.py and by the build backend.
VERSION = "0.1.0"
