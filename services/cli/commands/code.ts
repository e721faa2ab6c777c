import { CODE_OPERATIONS } from '../../common/domain/code-operations.ts';
import { type Command, stringList } from '../command.ts';
import { harmless } from '../output.ts';
import { usageFailure } from '../terminal.ts';
import { datasetsOf } from '../wire.ts';
import { searchAndPrint } from './search.ts';

const OPERATIONS = CODE_OPERATIONS.join(', ');

export const codeCommand: Command = {
  name: 'code',
  usage: '<operation> [name] [target]',
  summary: 'Asks the graph of code of a dataset: callers, definitions, routes, what a change reaches.',
  details: `Operations: ${OPERATIONS}.

engram code impact_analysis priceOf
engram code neighbors src/cart.ts --set relation=calls --set direction=reverse
engram code find_path main.ts priceOf
engram code query_facts --set kind=route`,
  options: {
    set: {
      type: 'string',
      multiple: true,
      value: 'OPTION=VALUE',
      meaning: 'an option of the operation: max_depth=2, kind=route, diagram=mermaid',
    },
  },
  async run(call) {
    const [operation, name, target, ...more] = call.arguments;
    if (operation === undefined) throw usageFailure(`Which operation? ${OPERATIONS}`);
    const isPath = operation === 'find_path';
    if (isPath && (name === undefined || target === undefined)) throw usageFailure('find_path needs two names');
    const words = isPath ? '' : [name, target, ...more].filter((word) => word !== undefined).join(' ');
    const given = Object.fromEntries(stringList(call.options, 'set').map(optionOf));
    const ends = isPath ? { source: name, target } : {};
    const code = {
      operation,
      ...ends,
      ...(operation === 'query_facts' && words !== '' ? { name: words } : {}),
      ...given,
    };
    // The server wants a text beside the options.
    const query = words === '' ? operation : words;
    const body = { query, search_type: 'CODE', code_query: code, ...(await datasetsOf(call)) };
    return searchAndPrint(call, body);
  },
};

function optionOf(given: string): readonly [string, string | number | boolean] {
  const [, key, value] = /^(\w+)=(.*)$/su.exec(given) ?? [];
  if (key === undefined || value === undefined) throw usageFailure(`--set: '${harmless(given)}' is not OPTION=VALUE`);
  if (value === 'true' || value === 'false') return [key, value === 'true'];
  return [key, /^-?\d{1,9}$/u.test(value) ? Number(value) : value];
}
