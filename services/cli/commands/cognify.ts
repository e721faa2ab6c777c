import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { note, print, printJson } from '../output.ts';
import { createProgress } from '../progress.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { type DatasetProgress, datasetLists, type RunInfo } from '../wire.ts';

const POLL_MS = 250;

export const cognifyCommand: Command = {
  name: 'cognify',
  usage: '',
  summary: 'Builds the knowledge graph of a dataset and shows how far it is.',
  options: {
    'no-wait': { type: 'boolean', meaning: 'return at once; ask later with engram status' },
    'chunk-size': {
      type: 'string',
      value: 'TOKENS',
      meaning: 'greatest size of a chunk, default chosen by the server',
    },
  },
  run: (call) => {
    if (call.arguments.length > 0) throw usageFailure('cognify takes no arguments; name the dataset with --dataset');
    return runCognify(call, { wait: !isSet(call.options, 'no-wait') });
  },
};

/** Starts a run and follows it to its end; the run goes on when this client is stopped. */
export async function runCognify(call: CommandCall, { wait }: { readonly wait: boolean }): Promise<number> {
  const size = stringOption(call.options, 'chunk-size');
  if (size !== null && !/^\d{1,6}$/.test(size)) throw usageFailure('--chunk-size needs a number of tokens');
  const body = {
    ...datasetLists(call.dataset),
    run_in_background: true,
    ...(size === null ? {} : { chunk_size: Number(size) }),
  };
  const answer = await call.api.json<Readonly<Record<string, RunInfo>>>('POST', '/api/v1/cognify', { body });
  const [started] = Object.values(answer);
  if (started === undefined) throw new CliFailure('The server started no run.', exitCodes.failed);
  if (!wait) {
    if (call.asJson) printJson(call, answer);
    else print(call, `run ${started.pipeline_run_id} started for ${started.dataset_name}`);
    return exitCodes.ok;
  }
  const startedAt = Date.now();
  const status = await follow(call, started.dataset_id);
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
  const isDone = status === 'DATASET_PROCESSING_COMPLETED';
  if (call.asJson)
    printJson(call, { dataset_id: started.dataset_id, pipeline_run_id: started.pipeline_run_id, status });
  else if (isDone) print(call, `${started.dataset_name} is ready (${seconds} s)`);
  if (!isDone)
    note(
      call,
      `engram: the run of ${started.dataset_name} ended with an error; the server's log names it (run ${started.pipeline_run_id})`,
    );
  return isDone ? exitCodes.ok : exitCodes.failed;
}

async function follow(call: CommandCall, datasetId: string): Promise<string> {
  const progress = createProgress(call.terminal, 'Cognify', { total: 1, unit: 'items' });
  try {
    for (;;) {
      const all = await call.api.json<Readonly<Record<string, DatasetProgress>>>(
        'GET',
        '/api/v1/datasets/status/progress',
        { query: { dataset: datasetId } },
      );
      const state = all[datasetId];
      if (state !== undefined && /_(COMPLETED|ERRORED)$/.test(state.status)) {
        if (state.status.endsWith('_COMPLETED')) progress.update(Number.MAX_SAFE_INTEGER, 'done');
        return state.status;
      }
      const step = state?.progress ?? null;
      if (step !== null) {
        progress.setTotal(step.total_items);
        progress.update(step.completed_items, step.current_stage);
      }
      await sleep(POLL_MS);
    }
  } finally {
    progress.stop();
  }
}
