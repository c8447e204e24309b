/* What calls do to the files of a folder: a call that fails changes none, and one that succeeds only its own. */
#ifndef VOXSHELL_TESTS_FUZZ_FILES_H
#define VOXSHELL_TESTS_FUZZ_FILES_H

#include <dirent.h>
#include <sys/stat.h>

#include "stream.h"

enum { MOST_FILES = 64 };

/* The files of the folder, in no order. */
struct listing {
  size_t count;
  struct file {
    char name[128];
    uint64_t size, hash; /* of its content, or of what a link says */
  } files[MOST_FILES];
};

/* Whether a recording is in progress. */
static int records;

/* Writes the path of a file that only this stream uses, as path_to does. */
static void file_path(const struct stream *s, const char *name, char path[512]) {
  snprintf(path, 512, "%s/%llu-%u-%s", program.folder, (unsigned long long)s->seed, s->number, name);
}

static int ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), of_end = strlen(end);
  return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

static void hash_bytes(struct file *file, const char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) file->hash = (file->hash ^ (unsigned char)bytes[i]) * 0x100000001B3u;
  file->size += size;
}

static void list_files(struct stream *s, struct listing *listing) {
  DIR *folder = opendir(program.folder);
  if (folder == NULL) fail(s, "the fuzzer cannot read its folder");
  listing->count = 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (listing->count == MOST_FILES) fail(s, "too many files in its folder");
    struct file *file = &listing->files[listing->count++];
    char path[512], bytes[4096];
    snprintf(file->name, sizeof file->name, "%.127s", entry->d_name);
    snprintf(path, sizeof path, "%.250s/%.250s", program.folder, entry->d_name);
    file->size = 0, file->hash = 0xCBF29CE484222325u;
    const ssize_t link = readlink(path, bytes, sizeof bytes);
    if (link >= 0) {
      hash_bytes(file, bytes, (size_t)link);
      continue;
    }
    FILE *opened = fopen(path, "rb");
    if (opened == NULL) fail(s, "the fuzzer cannot read %s", path);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, opened)) > 0;) hash_bytes(file, bytes, got);
    fclose(opened);
  }
  closedir(folder);
}

static const struct file *find_file(const struct listing *listing, const char *name) {
  for (size_t i = 0; i < listing->count; i++) {
    if (strcmp(listing->files[i].name, name) == 0) return &listing->files[i];
  }
  return NULL;
}

/* Returns whether the call may have changed the file: its own one if it succeeded, and that of the recording in progress,
 * which keeps its records when the disk is full. */
static int may_change(const struct stream *s, const char *name, const char *own) {
  const int starts = strcmp(s->function, "vxs_record_start") == 0, stops = strcmp(s->function, "vxs_record_stop") == 0;
  const int is_part = ends_with(name, ".part");
  if (s->status == VXS_OK && (starts || stops)) records = starts;
  if (is_part) return !starts || s->status == VXS_OK || records;
  return s->status == VXS_OK && !starts && (ends_with(name, own) || ends_with(name, "\xff\xfe.obj"));
}

/* Compares the files with those before the call, which writes `own`. */
static void check_files(struct stream *s, const struct listing *before, const char *own) {
  static struct listing after;
  list_files(s, &after);
  for (size_t i = 0; i < before->count; i++) {
    const struct file *was = &before->files[i], *is = find_file(&after, was->name);
    if (may_change(s, was->name, own)) continue;
    if (is == NULL) fail(s, "%s, and the file %s is lost", vxs_status_name(s->status), was->name);
    if (is->size != was->size || is->hash != was->hash) fail(s, "%s, but it changed %s", vxs_status_name(s->status), was->name);
  }
  for (size_t i = 0; i < after.count; i++) {
    const char *name = after.files[i].name;
    if (find_file(before, name) == NULL && !may_change(s, name, own)) fail(s, "%s, but it left %s", vxs_status_name(s->status), name);
  }
}

/* Puts a link in the place of a file, which has another name meanwhile. The link leads there unless it has a target. */
static void put_link(struct stream *s, const char *name, const char *target) {
  char path[512], aside[512];
  file_path(s, name, path), file_path(s, "aside", aside);
  unlink(aside);
  rename(path, aside); /* if it is there */
  if (symlink(target != NULL ? target : strrchr(aside, '/') + 1, path) != 0) fail(s, "the fuzzer cannot make a link");
}
static void remove_link(struct stream *s, const char *name) {
  char path[512], aside[512];
  struct stat found;
  file_path(s, name, path), file_path(s, "aside", aside);
  if (lstat(path, &found) != 0 || !S_ISLNK(found.st_mode)) fail(s, "%s, and the link is lost", vxs_status_name(s->status));
  if (unlink(path) != 0) fail(s, "the fuzzer cannot remove a link");
  rename(aside, path); /* if it is there */
}

/* Removes the files of sequences that have ended, with their recordings. */
static void remove_files(struct stream *s) {
  records = 0;
  static struct listing listing;
  list_files(s, &listing);
  for (size_t i = 0; i < listing.count; i++) {
    char path[512];
    snprintf(path, sizeof path, "%.250s/%.127s", program.folder, listing.files[i].name);
    unlink(path);
  }
}

#endif
