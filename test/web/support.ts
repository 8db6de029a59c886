// The gateway in front of a loopback site, and helpers of the web tests.

import { expect } from "bun:test";
import type { TestApp } from "../support/app.ts";

/** `web` settings that allow pages of these hosts and nothing else on this machine. */
export function webConfig(hosts: readonly string[], web: Record<string, unknown> = {}): Record<string, unknown> {
  return { web: { allow_hosts: hosts, render: "never", ...web } };
}

/** The answer when a crawl is polled. */
export interface Poll {
  success: boolean;
  status: string;
  total: number;
  completed: number;
  creditsUsed: number;
  data: {
    markdown?: string;
    html?: string;
    links?: string[];
    metadata: { sourceURL: string; statusCode: number; title: string };
  }[];
  errors: { url: string; code: string; message: string }[];
  error?: string;
  next?: string;
  expires_at: string;
  expiresAt: string;
  id: string;
  job_id: string;
  url: string;
  created_at: string;
}

/** Starts a crawl and returns its id. */
export async function startCrawl(app: TestApp, body: Record<string, unknown>): Promise<string> {
  const response = await app.post("/v1/crawl", body);
  const answer = (await response.json()) as { success: boolean; job_id: string; id: string; url: string };
  expect(response.status, JSON.stringify(answer)).toBe(200);
  expect(answer).toEqual({ success: true, job_id: answer.id, id: answer.id, url: body["url"] as string });
  return answer.id;
}

/** Polls once. */
export async function poll(app: TestApp, id: string, query = ""): Promise<Poll> {
  const response = await app.call(`/v1/crawl/${id}${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Poll;
}

/** Polls until the crawl has ended. */
export async function ended(app: TestApp, id: string): Promise<Poll> {
  for (;;) {
    const answer = await poll(app, id);
    if (answer.status !== "scraping") return answer;
    await Bun.sleep(15);
  }
}

/** Runs a whole crawl. */
export async function crawl(app: TestApp, body: Record<string, unknown>): Promise<Poll> {
  return ended(app, await startCrawl(app, body));
}

/** The paths of the returned pages, sorted. */
export function pathsOf({ data }: Poll): string[] {
  return data.map(({ metadata }) => new URL(metadata.sourceURL).pathname).sort();
}
