// The program: hands its arguments to the command line.

import { COMMIT, VERSION } from "./base/version.ts";
import { liftFetchCap } from "./cli/fetch-cap.ts";
import { processIo } from "./cli/io.ts";
import { runCommandLine } from "./cli/run.ts";
import { PDF_PROCESS_WORD } from "./pages/convert/pdf-ceiling.ts";

const argv = process.argv.slice(2);
// Started by the program itself, as a process for one PDF.
if (argv[0] === PDF_PROCESS_WORD) await import("./pages/convert/pdf-process.ts");
liftFetchCap(argv);
process.exitCode = await runCommandLine(argv, { version: `${VERSION} (${COMMIT})`, io: processIo() });
// A command that is done is done, whatever timers or sockets it left behind.
process.exit();
