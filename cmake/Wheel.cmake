# What a wheel of the Python package carries, beside apps/python/parley: the C interface and the program.

set_target_properties(parley_c PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(parley_cli PROPERTIES INSTALL_RPATH "$ORIGIN/..")
install(TARGETS parley_c LIBRARY DESTINATION parley)
install(TARGETS parley_cli RUNTIME DESTINATION parley/bin)
