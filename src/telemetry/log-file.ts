// A log file that another program may rotate: after it has moved the file away, `reopen` goes on in a new one of the same name.

import { closeSync, openSync, write as writeFile } from "node:fs";
import { bytesSink, type LogSink } from "./log-sink.ts";

/** A sink on a file, which is made if it does not exist and added to if it does. */
export interface FileSink extends LogSink {
  /** Opens the file of this name anew. Throws if that is impossible; the old one then stays in use. */
  reopen(): void;
}

/** Opens a log file; throws as `openSync` does. `complain` is told once for each opened file that it cannot be written. */
export function fileSink(path: string, complain: (code: string) => void): FileSink {
  // Logs name accounts and models: the owner and the group may read them.
  const open = () => openSync(path, "a", 0o640);
  let descriptor = open();
  let writing: number | undefined;
  let isTold = false;
  const sink = bytesSink((bytes, afterWrite) => {
    const used = descriptor;
    writing = used;
    writeFile(used, bytes, 0, bytes.length, null, (error, written) => {
      writing = undefined;
      if (used !== descriptor) closeSync(used);
      if (error === null || error.code === "EAGAIN" || error.code === "EINTR") return afterWrite(error, written);
      // A full disk passes: these lines are lost, later ones need not be.
      if (!isTold) complain(error.code ?? String(error));
      isTold = true;
      afterWrite(null, bytes.length);
    });
  });
  return {
    ...sink,
    reopen() {
      const before = descriptor;
      descriptor = open();
      isTold = false;
      // A write in progress closes its file itself.
      if (writing !== before) closeSync(before);
    },
  };
}
