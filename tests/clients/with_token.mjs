// Stands between a client that knows no token and a server of ratlas, for the conformance suite:
// adds the header and changes nothing else.
//
// `node with_token.mjs PORT_OF_SERVER TOKEN` prints the port that it listens at.

import { createServer, request } from "node:http";

const [port, token] = process.argv.slice(2);
const between = createServer((asked, answer) => {
  const headers = { ...asked.headers, authorization: `Bearer ${token}` };
  const passed = request({ host: "127.0.0.1", port, path: asked.url, method: asked.method, headers }, (given) => {
    answer.writeHead(given.statusCode, given.headers);
    answer.flushHeaders();
    given.pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  answer.on("close", () => passed.destroy());
  asked.pipe(passed);
});
between.listen(0, "127.0.0.1", () => console.log(between.address().port));
