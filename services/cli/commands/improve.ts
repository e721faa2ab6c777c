import type { ImproveResult } from '../../client/index.ts';
import { type Command, isSet, stringList } from '../command.ts';
import { columns, note, print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { findDataset } from '../wire.ts';

export const improveCommand: Command = {
  name: 'improve',
  usage: '',
  summary: 'Learns from sessions and feedback, and tidies the graph of a dataset.',
  options: {
    session: { type: 'string', short: 's', multiple: true, value: 'ID', meaning: 'only this, can be repeated' },
    'no-wait': { type: 'boolean', meaning: 'return at once' },
  },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('improve takes no arguments; name the dataset with --dataset');
    const { id } = await findDataset(call.api, call.dataset);
    const sessions = stringList(call.options, 'session');
    const body = {
      datasetId: id,
      runInBackground: isSet(call.options, 'no-wait'),
      ...(sessions.length === 0 ? {} : { sessionIds: sessions }),
    };
    const answer = await call.api.json<ImproveResult>('POST', '/api/v1/improve', { body });
    if (call.asJson) printJson(call, answer);
    else {
      print(call, `${answer.dataset_name ?? call.dataset}: ${answer.status}`);
      const rows = answer.stages.map(({ stage, status, reason, error, counts }) => [
        ...[stage, status],
        error ??
          reason ??
          Object.entries(counts)
            .map(([name, number]) => `${name} ${number}`)
            .join(', '),
      ]);
      if (rows.length > 0) print(call, columns([['STAGE', 'STATUS', ''], ...rows]));
    }
    if (answer.error !== null) note(call, `engram: ${answer.error}`);
    return answer.status === 'errored' ? exitCodes.failed : exitCodes.ok;
  },
};

export const memifyCommand: Command = {
  name: 'memify',
  usage: '',
  summary: 'Enriches the graph of a dataset by tasks.',
  options: {
    extract: { type: 'string', multiple: true, value: 'TASK', meaning: 'task that reads, can be repeated' },
    enrich: { type: 'string', multiple: true, value: 'TASK', meaning: 'task that writes, can be repeated' },
    'no-wait': { type: 'boolean', meaning: 'return at once' },
  },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('memify takes no arguments; name the dataset with --dataset');
    const { id, name } = await findDataset(call.api, call.dataset);
    const [extractionTasks, enrichmentTasks] = [
      stringList(call.options, 'extract'),
      stringList(call.options, 'enrich'),
    ];
    const body = {
      datasetId: id,
      runInBackground: isSet(call.options, 'no-wait'),
      ...(extractionTasks.length === 0 ? {} : { extractionTasks }),
      ...(enrichmentTasks.length === 0 ? {} : { enrichmentTasks }),
    };
    const answer = await call.api.json('POST', '/api/v1/memify', { body });
    if (call.asJson) printJson(call, answer);
    else print(call, isSet(call.options, 'no-wait') ? `memify of ${name} started` : `${name} enriched`);
    return exitCodes.ok;
  },
};
