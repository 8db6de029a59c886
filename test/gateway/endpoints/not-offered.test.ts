import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../support/app.ts";

const app = await startTestApp();
afterAll(() => app.stop());

test.each([
  ["POST", "/v1/batches"],
  ["GET", "/v1/batches/batch_1"],
  ["POST", "/v1/batches/batch_1/cancel"],
  ["GET", "/v1/realtime?model=x"],
  ["POST", "/v1/fine_tuning/jobs"],
  ["POST", "/v1/vector_stores"],
  ["DELETE", "/v1/assistants/asst_1"],
  ["POST", "/openai/v1/videos"],
  ["POST", "/v1/messages/batches"],
  ["GET", "/v1/messages/batches?limit=2"],
  ["GET", "/v1/messages/batches/msgbatch_1/results"],
  ["DELETE", "/v1/messages/batches/msgbatch_1"],
  ["POST", "/v1/responses/resp_1/cancel"],
  ["GET", "/v1/chat/completions/chatcmpl-1"],
  ["POST", "/v1/chat/completions/chatcmpl-1"],
  ["DELETE", "/v1/chat/completions/chatcmpl-1"],
  ["GET", "/v1/chat/completions/chatcmpl-1/messages"],
])("%s %s says that it is not supported", async (method, path) => {
  const response = await app.call(path, { method });
  expect(response.status).toBe(404);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe("not_offered");
  expect(error.message).toContain("is not offered");
  expect(error.message).toContain("/docs/guides/not-offered");
});
