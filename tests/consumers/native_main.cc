extern "C" int RunNativeAttention();

int main() { return RunNativeAttention(); }
