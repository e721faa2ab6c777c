import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { RememberResult, UpdateResult } from '../../client/index.ts';
import { type Action, type Command, isSet, stringList, stringOption } from '../command.ts';
import { group } from '../group.ts';
import { count, note, print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { findDataset } from '../wire.ts';
import { formOf, sortInputs } from './add.ts';
import { ONTOLOGY_OPTION } from './ontologies.ts';

export const rememberCommand: Command = {
  name: 'remember',
  usage: '<file | URL | text | ->...',
  summary: 'Adds files, web pages or text and builds the graph from them in one step.',
  details: 'As engram add followed by engram cognify. With --session it becomes a turn of that session.',
  options: {
    text: { type: 'boolean', meaning: 'take every argument as text, even if it names a file' },
    'node-set': { type: 'string', multiple: true, value: 'TAG', meaning: 'tag for the items, can be repeated' },
    ontology: ONTOLOGY_OPTION,
    session: { type: 'string', short: 's', value: 'ID', meaning: 'remember in this session' },
    'no-wait': { type: 'boolean', meaning: 'return at once; ask later with engram status' },
  },
  async run(call) {
    if (call.arguments.length === 0) throw usageFailure('Nothing to remember. See: engram remember --help');
    const { files, strings } = await sortInputs(call);
    const form = await formOf(call, files, strings);
    for (const key of stringList(call.options, 'ontology')) form.append('ontology_key', key);
    const session = stringOption(call.options, 'session');
    if (session !== null) form.append('session_id', session);
    if (isSet(call.options, 'no-wait')) form.append('run_in_background', 'true');
    const answer = await call.api.json<RememberResult>('POST', '/api/v1/remember', { body: form });
    const { status, dataset_name: name, refused = [], warnings = [], error } = answer;
    if (call.asJson) printJson(call, answer);
    else if (session !== null) print(call, `remembered in session ${session}`);
    else if (status === 'running') print(call, `${count(files.length + strings.length, 'input')} taken into ${name}`);
    else print(call, `${count(files.length + strings.length - refused.length, 'item')} remembered in ${name}`);
    for (const { message } of refused) note(call, `refused: ${message}`);
    for (const warning of warnings) note(call, `warning: ${warning}`);
    if (typeof error === 'string') note(call, `engram: ${error}`);
    return refused.length === 0 && status !== 'errored' ? exitCodes.ok : exitCodes.failed;
  },
};

export const updateCommand: Command = {
  name: 'update',
  usage: '<item id> <file | text | ->',
  summary: 'Replaces the content of an item and builds what has changed.',
  options: { text: { type: 'boolean', meaning: 'take the second argument as text, even if it names a file' } },
  async run(call) {
    const [id, ...contents] = call.arguments;
    if (id === undefined || contents.length !== 1)
      throw usageFailure('Give an item and one content: engram update --help');
    const { files, strings } = await sortInputs({ ...call, arguments: contents });
    const form = new FormData();
    for (const path of files) form.append('data', await openAsBlob(path), basename(path));
    for (const text of strings) form.append('data', text);
    const query = {
      data_id: id,
      ...(call.datasetGiven === null ? {} : { dataset_id: (await findDataset(call.api, call.datasetGiven)).id }),
    };
    const answer = await call.api.json<UpdateResult>('PATCH', '/api/v1/update', { query, body: form });
    if (call.asJson) printJson(call, answer);
    else {
      const { added_chunks: added, deleted_chunks: deleted, kept_chunks: kept } = answer;
      print(call, `${answer.data_id} ${answer.status}: ${added} passages added, ${deleted} removed, ${kept} kept`);
    }
    return exitCodes.ok;
  },
};

const feedback: readonly Action[] = [
  {
    name: 'give',
    parameters: '<session> <turn> <score> [text]',
    summary: 'Rates a turn from 1 to 5; engram sessions show names the turns.',
    request: async (call) => {
      const [session, turn, score, text] = call.arguments;
      if (!/^[1-5]$/.test(score ?? '')) throw usageFailure(`A score is 1 to 5, not '${score}'.`);
      const entry = {
        type: 'feedback',
        qa_id: turn,
        feedback_score: Number(score),
        ...(text === undefined ? {} : { feedback_text: text }),
      };
      const dataset =
        call.datasetGiven === null ? {} : { dataset_id: (await findDataset(call.api, call.datasetGiven)).id };
      return call.api.json('POST', '/api/v1/remember/entry', { body: { entry, session_id: session, ...dataset } });
    },
    show: () => 'thank you: engram improve learns from it',
  },
];

export const feedbackCommand = group('feedback', 'Rates answers; improve learns from it.', feedback);
