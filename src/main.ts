// The program: hands its arguments to the command line.

import { lazily } from "./base/lazily.ts";
import { COMMIT, VERSION } from "./base/version.ts";
import { processIo } from "./cli/io.ts";
import { liftFetchCap } from "./cli/restart.ts";
import { runCommandLine } from "./cli/run.ts";
import { PDF_PROCESS_WORD } from "./pages/convert/pdf-ceiling.ts";
import { THREADS_PROCESS_WORD } from "./workers/process-words.ts";

const authorities = lazily(() => {
  const { trustAuthorities }: typeof import("./cli/authorities.ts") = require("./cli/authorities.ts");
  return trustAuthorities;
});
const argv = process.argv.slice(2);
// The program started itself as a process that converts one PDF.
if (argv[0] === PDF_PROCESS_WORD) await import("./pages/convert/pdf-process.ts");
// Or as the process in which threads run.
if (argv[0] === THREADS_PROCESS_WORD) await import("./workers/threads-inside.ts");
liftFetchCap(argv);
process.exitCode = await runCommandLine(argv, {
  version: `${VERSION} (${COMMIT})`,
  io: processIo(),
  trust: (config) => authorities()(argv, config),
});
// A finished command ends the process, whatever timers or sockets it has left open.
process.exit();
