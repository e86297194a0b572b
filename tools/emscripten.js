// A program's environment is that of node, as far as it is the allocator's: emcc --pre-js
Module['preRun'] = function () {
  for (const name in process.env) {
    if (name.startsWith('MIMALLOC_')) ENV[name] = process.env[name];
  }
};
