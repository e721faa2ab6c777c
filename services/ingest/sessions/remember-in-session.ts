import { buffer } from 'node:stream/consumers';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import { decodeText } from '../../common/text/documents/formats/decode-text.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { Input } from '../items/input-source.ts';
import { inputName, nothingStored, orRefusal, type RefusedInput } from '../items/refused-input.ts';
import { appendQa, requirePinnable } from './append-to-session.ts';
import { requireSessionMemory, type SessionSelection, sessionTarget } from './session-target.ts';

interface SessionRemembering {
  readonly principal: Principal;
  readonly selection: SessionSelection;
  /** Texts, and files that hold text. */
  readonly inputs: readonly Input[];
  readonly nodeSets: readonly string[];
  /** False: nothing is improved because of it. */
  readonly selfImprovement: boolean;
  readonly context: CallContext;
}

export interface RememberedInSession {
  readonly dataset: DatasetRef;
  readonly refused: readonly RefusedInput[];
  readonly elapsedSeconds: number;
}

/** Most that a session keeps of one call; more is a document. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/**
 * Keeps the texts as one entry of the session, with a request for an improve in the same commit: durable when it resolves, in
 * the graph later. A file that holds no text is refused alone. Errors: 503 without session memory, those of `nothingStored`
 * when every input is refused, `PayloadTooLargeError`, those of `sessionTarget`, `SessionNodeSetConflictError`.
 */
export async function rememberInSession(
  dependencies: IngestDependencies,
  { principal, selection, inputs, nodeSets, selfImprovement, context }: SessionRemembering,
): Promise<RememberedInSession> {
  const { clock, settings, improveRequests } = dependencies;
  const startedMs = clock.monotonicMs();
  requireSessionMemory(dependencies);
  requirePinnable(nodeSets);
  const { text: answer, refused } = await textOf(inputs);
  const target = await sessionTarget(dependencies, principal, selection, context);
  const { scope, key, dataset } = target;
  const debounce = selfImprovement ? settings.sessions.autoImprove : null;
  const request = { ...key, dataset: dataset.id, keyId: principal.key?.id ?? null };
  const entry = { question: '', context: '', answer, feedbackText: null, feedbackScore: null };
  await appendQa(
    dependencies,
    target,
    { ...entry, usedGraphElements: null, usedContextIds: null },
    {
      nodeSets,
      context,
      ...(debounce === null
        ? {}
        : {
            also: () => improveRequests.requestWrites(scope, request, { at: clock.now(), debounce }),
          }),
    },
  );
  return { dataset, refused, elapsedSeconds: (clock.monotonicMs() - startedMs) / 1000 };
}

/** All of them, with a blank line between two. */
async function textOf(inputs: readonly Input[]) {
  const texts: string[] = [];
  const refused: RefusedInput[] = [];
  let size = 0;
  for (const [index, input] of inputs.entries()) {
    const given = input.kind === 'string' ? input.value : input.kind === 'document' ? input.text : null;
    size += input.kind === 'upload' ? input.file.sizeBytes : Buffer.byteLength(given ?? '');
    if (size > MAX_TEXT_BYTES) {
      throw engramError(
        'PayloadTooLargeError',
        `A session keeps at most ${MAX_TEXT_BYTES} bytes of one call; add larger data without a session.`,
      );
    }
    const read = await orRefusal(async () => (input.kind === 'upload' ? fileText(input.file) : (given ?? '')));
    if ('refusal' in read) refused.push({ index, name: inputName(input), error: read.refusal });
    else texts.push(read.value);
  }
  if (texts.length === 0 && refused.length > 0) throw nothingStored(refused);
  return { text: texts.join('\n\n'), refused };
}

async function fileText(file: UploadedFile): Promise<string> {
  const decoded = decodeText(await buffer(file.open()));
  if (decoded !== null && decoded.text.trim() === '') {
    throw engramError('UnreadableFileContentError', `'${file.fileName}' is empty`);
  }
  if (decoded !== null) return decoded.text.trim();
  throw engramError(
    'UnreadableFileContentError',
    `${file.fileName} is no text, and a session keeps texts only; add it without a session.`,
  );
}
