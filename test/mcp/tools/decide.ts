import type { ToolFixture } from "./fixture.ts";

const questions = { urgent: { type: "noul", instructions: "Is it urgent?" } };

export const fixture: ToolFixture = {
  args: { state: "The server is on fire.", questions },
  text: /"urgent":\{"type":"noul"/,
  data: { model: "decide-1.0.0", answers: { urgent: { type: "noul" } } },
  refused: {
    args: { state: "x", questions: { q: { type: "choice", criteria: {} } } },
    param: "questions.q.criteria",
    code: "invalid_question",
  },
};
