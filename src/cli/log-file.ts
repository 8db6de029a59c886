// The file of `log.file`. Loaded only where the configuration names one.

import { type FileSink, fileSink } from "../telemetry/log-file.ts";
import { CommandError } from "./failure.ts";

/** Opens the file; throws a CommandError of one line if that is impossible. What cannot be logged is told to stderr. */
export function logFile(path: string): FileSink {
  try {
    return fileSink(path, (code) => {
      process.stderr.write(`sallyport: ${path} cannot be written (${code}): log lines are lost\n`);
    });
  } catch (error) {
    throw new CommandError(
      `sallyport: log.file: ${path} cannot be opened (${(error as { code?: string }).code ?? error})`,
    );
  }
}
