# The messages of proto/parley.proto, included as "proto/parley.pb.h".
# They are what the ledger, the wire and the simulator exchange. Lite: without descriptors, which a process may have only
# once, so that libparley.a and libparley_c.so can be in one process.

set(proto_include ${PROJECT_BINARY_DIR}/generated_proto)
set(proto_source ${proto_include}/proto/parley.pb.cc)
file(MAKE_DIRECTORY ${proto_include}/proto)
add_custom_command(
  OUTPUT ${proto_source} ${proto_include}/proto/parley.pb.h
  COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=lite:${proto_include}
          ${PROJECT_SOURCE_DIR}/proto/parley.proto
  DEPENDS ${PROJECT_SOURCE_DIR}/proto/parley.proto
  VERBATIM)
set_source_files_properties(${proto_source} PROPERTIES COMPILE_OPTIONS -w)
