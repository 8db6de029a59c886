// Where a thread's module lies, in the sources and in the built program.

/** Starts a thread. `path` is the module's below src/, with a dot and a slash before it; `url` where it lies in the sources. */
export function startThread(path: string, url: URL): Worker {
  // In the built program modules lie under a virtual root, laid out like src/; there the path is taken from that root.
  const isBuilt = import.meta.url.includes("$bunfs") || import.meta.url.includes("~BUN");
  return new Worker(isBuilt ? path : url.href);
}
