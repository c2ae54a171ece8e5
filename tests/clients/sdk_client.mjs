// Asks a server of ratlas with the TypeScript SDK, over stdio and HTTP.
//
// `node sdk_client.mjs RATLAS REPOSITORY`, where `@modelcontextprotocol/sdk` is found from the
// working directory. Prints a line a transport; ends with 1 at the first answer that is none.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const load = async (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");

const [ratlas, repository] = process.argv.slice(2);
const command = ["-C", repository, "serve"];
const tools = {
  get_context: { task: "what adds an item to the cart", budget: 800 },
  repo_map: { budget: 600 },
  find_symbol: { query: "cart", limit: 3 },
  get_symbol: { qualname: "Cart", include_body: true },
  callers_of: { qualname: "Cart" },
  callees_of: { qualname: "Cart" },
  impact_of: { target: "Cart" },
  index_status: {},
};

function check(what, holds) {
  if (!holds) {
    console.error(`failed: ${what}`);
    process.exit(1);
  }
}

async function ask(client) {
  const listed = (await client.listTools()).tools.map((tool) => tool.name);
  check(`the tools are ${listed}`, listed.length === 8 && listed.every((name) => name in tools));
  for (const [name, args] of Object.entries(tools)) {
    const result = await client.callTool({ name, arguments: args });
    check(`${name} answers: ${JSON.stringify(result)}`, !result.isError && result.content[0].text);
  }
  const wrong = await client.callTool({ name: "get_symbol", arguments: { qualname: "NoSuchThing" } });
  check("an unknown name is a tool's error", wrong.isError && wrong.content[0].text.includes("help: "));
  check("the map is read", (await client.readResource({ uri: "ratlas://map" })).contents[0].text);
  const prompt = await client.getPrompt({ name: "ratlas-onboard" });
  check("the prompt holds the map", prompt.messages[0].content.text.includes("<map>"));
  const completed = await client.complete({
    ref: { type: "ref/prompt", name: "ratlas-onboard" },
    argument: { name: "qualname", value: "Car" },
  });
  check("a name is completed", completed.completion.values.includes("Cart"));
}

async function over(name, transport) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  await ask(client);
  await client.close();
  console.log(`TypeScript SDK, ${name}: ok`);
}

await over("stdio", new StdioClientTransport({ command: ratlas, args: command, env: process.env }));

const token = "a-token-of-the-test";
const serving = spawn(ratlas, [...command, "--http", "127.0.0.1:0"], {
  env: { ...process.env, RATLAS_HTTP_TOKEN: token },
  stdio: ["ignore", "ignore", "pipe"],
});
const [line] = await new Promise((resolve) => createInterface(serving.stderr).once("line", (line) => resolve([line])));
const headers = { Authorization: `Bearer ${token}` };
await over("HTTP", new StreamableHTTPClientTransport(new URL(line.split(" ").at(-1)), { requestInit: { headers } }));
serving.kill();
process.exit(0);
