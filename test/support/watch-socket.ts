// Listens to a WebSocket until it closes.

/** The messages that a socket receives, how it closed, and the protocol if it was opened at all. `begun`: called at each message. */
export async function watchSocket(address: string, protocol: string | undefined, begun = () => {}) {
  const socket = protocol === undefined ? new WebSocket(address) : new WebSocket(address, protocol);
  const messages: { type: string; data?: Record<string, unknown> }[] = [];
  let spoken: string | undefined;
  let reason = "";
  const over = new Promise<number>((resolve) => {
    socket.onopen = () => {
      spoken = socket.protocol;
    };
    socket.onmessage = ({ data }) => {
      messages.push(JSON.parse(String(data)));
      begun();
    };
    socket.onclose = ({ code, reason: text }) => {
      reason = text;
      resolve(code);
    };
  });
  return { code: await over, messages, spoken, reason };
}
