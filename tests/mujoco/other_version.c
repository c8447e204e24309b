/* A library with the name of MuJoCo and an unknown version. The plugin must refuse it and leave the table as it is. */
typedef int (*collision)(void);
collision mjCOLLISIONFUNC[9][9];
int registered;

int mj_version(void) { return 9009009; }
int mjp_registerPlugin(const void *plugin) {
  (void)plugin;
  return registered++;
}
