/* The one function of bcryptprimitives.dll that Rust's library imports, for tests under Wine, which lacks this library
 * before version 9. Windows has its own. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
  return SystemFunction036(data, (ULONG)length);
}
