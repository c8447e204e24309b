/* A library with the name of MuJoCo and the version number VERSION, which the plugin does not know. The plugin must refuse it
 * and leave the table as it is. */
typedef int (*collision)(void);
collision mjCOLLISIONFUNC[9][9];
int registered;

int mj_version(void) { return VERSION; }
int mjp_registerPlugin(const void *plugin) {
  (void)plugin;
  return registered++;
}
