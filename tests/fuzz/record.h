/* Calls about recordings. A process has one recording, so their answers depend on the other streams. */
#ifndef VOXSHELL_TESTS_FUZZ_RECORD_H
#define VOXSHELL_TESTS_FUZZ_RECORD_H

#include "shapes.h"

INIT_CALL(vxs_record_options, vxs_record_options_init)
INIT_CALL(vxs_record_report, vxs_record_report_init)

static void call_vxs_record_start(struct stream *s) {
  const char *path = path_value(s, path_to(s, "recording.vxr"));
  vxs_record_options *options = input(s, sizeof *options);
  MUST(s, vxs_record_options_init(options, sizeof *options));
  options->wait = (uint32_t)below(s, 2);
  options->buffer_bytes = (uint64_t)1 << (16 + below(s, 5));
  vary_struct_size(s, &options->struct_size);
  if (odd(s)) options->buffer_bytes = below(s, 1 << 16), s->bad = 1;
  /* A name that is not UTF-8 may be good, or a recording in progress. */
  s->loose = 1;
  CALL(s, vxs_record_start(path, options));
}

static void call_vxs_record_stop(struct stream *s) {
  s->loose = 1;
  CALL(s, vxs_record_stop(NULL));
}

#endif
