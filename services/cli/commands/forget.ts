import type { ForgetResult } from '../../client/index.ts';
import { removedText } from '../../common/domain/erasure-receipt.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { confirmed } from '../confirm.ts';
import { note, print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { isId } from '../wire.ts';

export const forgetCommand: Command = {
  name: 'forget',
  usage: '(--dataset NAME [--item ID] | --everything)',
  summary: 'Deletes an item, a dataset or everything, and what was learnt from it.',
  details: 'There is no default here: say what is to be forgotten. A person is asked first; in scripts give --yes.',
  options: {
    item: { type: 'string', value: 'ID', meaning: 'only this item of the dataset' },
    everything: { type: 'boolean', meaning: 'all datasets that you may delete' },
    'memory-only': { type: 'boolean', meaning: 'keep the documents, forget what was learnt from them' },
  },
  async run(call) {
    const { body, what } = request(call);
    if (!(await confirmed(call, `Forget ${what}?`))) {
      note(call, 'nothing was forgotten');
      return exitCodes.failed;
    }
    const answer = await call.api.json<ForgetResult>('POST', '/api/v1/forget', { body });
    if (call.asJson) printJson(call, answer);
    else print(call, `forgotten: ${what}\n${removedText(answer)}`);
    return exitCodes.ok;
  },
};

function request(call: CommandCall): { readonly body: Readonly<Record<string, unknown>>; readonly what: string } {
  const item = stringOption(call.options, 'item');
  const memoryOnly = isSet(call.options, 'memory-only');
  if (call.arguments.length > 0) throw usageFailure('forget takes no arguments; name the dataset with --dataset');
  if (isSet(call.options, 'everything')) {
    if (call.datasetGiven !== null || item !== null || memoryOnly) throw usageFailure('--everything stands alone');
    return { body: { everything: true }, what: 'everything' };
  }
  if (call.datasetGiven === null)
    throw usageFailure('Say what is to be forgotten: --dataset NAME, with --item ID, or --everything');
  if (item !== null && !isId(item))
    throw usageFailure(`'${item}' is not the id of an item. See: engram items --dataset ${call.datasetGiven}`);
  const dataset = isId(call.datasetGiven) ? { datasetId: call.datasetGiven } : { dataset: call.datasetGiven };
  const subject = item === null ? `dataset ${call.datasetGiven}` : `item ${item} of ${call.datasetGiven}`;
  return {
    body: { ...dataset, ...(item === null ? {} : { dataId: item }), ...(memoryOnly ? { memoryOnly } : {}) },
    what: memoryOnly ? `memory of ${subject}` : subject,
  };
}
