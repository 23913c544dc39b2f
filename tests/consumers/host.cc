// Loads the plugin given on the command line, runs it and unloads it, several times: the library's threads must
// be gone when its code is. Uses the C++ library itself: one that came with the plugin would keep it loaded.
#include <dlfcn.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (int round = 0; round < 3; ++round) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::cout << dlerror() << std::endl;
      return 1;
    }
    const auto run = reinterpret_cast<int (*)()>(dlsym(plugin, "RunNativeAttention"));
    if (run == nullptr || run() != 0) return 1;
    dlclose(plugin);
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr) {
      std::cout << "the plugin did not unload" << std::endl;
      return 1;
    }
  }
  return 0;
}
