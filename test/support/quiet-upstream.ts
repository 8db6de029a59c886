// An upstream in a thread of its own, so that its work is not measured as the gateway's. It reads nothing and answers every
// request with the same short answers.

/** A running upstream. */
export interface QuietUpstream {
  readonly baseUrl: string;
  stop(): void;
}

/** Starts it. */
export async function startQuietUpstream(): Promise<QuietUpstream> {
  const worker = new Worker(new URL("./quiet-upstream-worker.ts", import.meta.url).href);
  const port = await new Promise<number>((resolve) => {
    worker.onmessage = ({ data }: MessageEvent<number>) => resolve(data);
  });
  return { baseUrl: `http://127.0.0.1:${port}/v1`, stop: () => worker.terminate() };
}
