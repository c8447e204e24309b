/* The calls of tests/fuzz/calls.c, in sequences that the bytes of an input choose instead of random numbers. */
#define VOXSHELL_FUZZ_BYTES
#define VOXSHELL_FUZZ_SEEDS ""
#define main unused_main
#include "../tests/fuzz/calls.c"
#undef main

/* Largest number of calls of an input. */
enum { MOST_CALLS = 64 };

/* Makes calls until the bytes end, then releases what they made. */
void voxshell_fuzz_calls(const unsigned char *bytes, size_t size) {
  if (program.folder[0] == '\0') {
    /* Files in memory, where the system has that. */
    snprintf(program.folder, sizeof program.folder, "%s/voxshell-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(program.folder) == NULL) abort();
    weigh();
    make_shared();
  }
  struct stream *s = allocated(calloc(1, sizeof *s));
  current = s;
  chosen.at = bytes, chosen.end = bytes + size;
  for (uint64_t call = 0; call < MOST_CALLS && chosen.end - chosen.at >= 2; call++) make_call(s, call);
  chosen.at = chosen.end = NULL;
  close_stream(s);
  /* A recording, and the function that gets messages, outlive a sequence. */
  (void)vxs_record_stop(NULL);
  MUST(s, vxs_set_log(NULL, 0, NULL));
  current = NULL;
  free(s);
}
