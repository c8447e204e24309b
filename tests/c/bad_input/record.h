/* Rows of: recordings. */

ROWS(vxs_record_options_init) {
  size_t size = sizeof(vxs_record_options);
  OUTPUT(vxs_record_options, options);
#define CALL vxs_record_options_init(options, size)
  SIZE_OF(size, options);
  PANIC();
#undef CALL
}

ROWS(vxs_record_report_init) {
  size_t size = sizeof(vxs_record_report);
  OUTPUT(vxs_record_report, report);
#define CALL vxs_record_report_init(report, size)
  SIZE_OF(size, report);
  PANIC();
#undef CALL
}

ROWS(vxs_record_start) {
  const char *path = "bad_input_walk.vxr";
  vxs_record_options options_given, *options = &options_given;
  OK(vxs_record_options_init(options, sizeof *options));
#define CALL vxs_record_start(path, options)
  FILE_NAME(path);
  ROW(VXS_IO, path, "no-such-directory/session.vxr", "no-such-directory");
  ROW(VXS_IO, path, ".", "directory");
#ifndef _WIN32
  ROW(VXS_IO, path, "/dev/null", "it is a device or a pipe");
#endif
  SIZED(options);
  INVALID(options->buffer_bytes, 0, "options->buffer_bytes is 0; expected 65536 to");
  INVALID(options->buffer_bytes, UINT64_MAX, "options->buffer_bytes is 18446744073709551615; expected 65536 to");
  PANIC();
#undef CALL
  CHECK(fopen(path, "r") == NULL);
}

ROWS(vxs_record_stop) {
  vxs_record_report report_given, *report = &report_given;
  OK(vxs_record_report_init(report, sizeof *report));
#define CALL vxs_record_stop(report)
  SIZED(report);
  PANIC();
#undef CALL
  REFUSED(VXS_INVALID_ARGUMENT, "no recording is in progress", vxs_record_stop(NULL));
}
