// The program: hands its arguments to the command line.

import { COMMIT, VERSION } from "./base/version.ts";
import { liftFetchCap } from "./cli/fetch-cap.ts";
import { processIo } from "./cli/io.ts";
import { runCommandLine } from "./cli/run.ts";

const argv = process.argv.slice(2);
liftFetchCap(argv);
process.exitCode = await runCommandLine(argv, { version: `${VERSION} (${COMMIT})`, io: processIo() });
// A command that is done is done, whatever timers or sockets it left behind.
process.exit();
