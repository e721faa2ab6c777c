import { text as readText } from 'node:stream/consumers';
import { type Command, stringList } from '../command.ts';
import { print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { jsonOf } from './activity.ts';

export const apiCommand: Command = {
  name: 'api',
  usage: '[METHOD] <path> [body.json | -]',
  summary: 'Sends any request of the HTTP API, with the address and the key of this command.',
  details:
    'For what has no verb of its own: engram api /api/v1/auth/oidc, engram api POST /api/v1/scim/v2/Users user.json.',
  options: {
    query: { type: 'string', multiple: true, value: 'NAME=VALUE', meaning: 'of the address, can be repeated' },
  },
  async run(call) {
    const [first = '', ...rest] = call.arguments;
    const hasMethod = /^(get|post|put|patch|delete|head)$/i.test(first);
    const [path, body, ...more] = hasMethod ? rest : call.arguments;
    if (path === undefined || !path.startsWith('/') || more.length > 0) {
      throw usageFailure('Give a path like /api/v1/datasets. See: engram api --help');
    }
    const method = hasMethod ? first.toUpperCase() : body === undefined ? 'GET' : 'POST';
    const query: Record<string, string[]> = {};
    for (const pair of stringList(call.options, 'query')) {
      const [name = '', ...value] = pair.split('=');
      query[name] = [...(query[name] ?? []), value.join('=')];
    }
    const sent =
      body === undefined
        ? {}
        : { body: body === '-' ? JSON.parse(await readText(call.terminal.input)) : await jsonOf(body) };
    const answer = await call.api.text(method, path, { query, ...sent });
    try {
      printJson(call, JSON.parse(answer));
    } catch {
      print(call, answer);
    }
    return exitCodes.ok;
  },
};
