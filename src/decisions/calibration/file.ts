// Reads a calibration that `sallyport calibrate` wrote to a file.

import { type Calibration, readCalibration } from "./calibration.ts";

/** Maximum size; a version has only a few small groups of parameters. */
const FILE_BYTES_MAX = 1024 * 1024;

/** The calibration in a file. Throws an Error that describes the problem. */
export async function readCalibrationFile(path: string): Promise<Calibration> {
  const file = Bun.file(path);
  if (!(await file.exists())) throw new Error(`there is no calibration file ${path}`);
  if (file.size > FILE_BYTES_MAX) throw new Error(`${path} is too large for a calibration file`);
  const calibration = readCalibration(parsed(path, await file.text()));
  if (calibration === undefined) throw new Error(`${path} is not a calibration file`);
  return calibration;
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
