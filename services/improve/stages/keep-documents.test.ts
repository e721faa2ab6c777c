import { expect } from 'chai';
import { ADA, NOTES as DATASET } from '../../../test/support/ada.ts';
import { unsignedPrincipals } from '../../../test/support/unsigned-principals.ts';
import type { RunState } from '../../common/domain/run.ts';
import { NO_RESULT } from '../../common/domain/run.ts';
import { asId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { KeptDocument } from '../../common/platform/messaging/messages.ts';
import { createMessenger } from '../../common/platform/messaging/messenger.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import { keepDocuments } from './keep-documents.ts';

const AT = '2026-01-02T03:04:05.678Z';

/** The messages that ingest received before a run that ends as given. */
async function bridge(end: Partial<RunState> = {}) {
  const sent: (readonly KeptDocument[])[] = [];
  const messenger = createMessenger(createInProcessBus(), unsignedPrincipals);
  await messenger.serve('auth.ResolveDatasets', async () => ({ datasets: [DATASET] }));
  await messenger.serve('ingest.KeepDocuments', async ({ documents }) => {
    sent.push(documents);
    return { itemIds: documents.map(({ key }) => key), added: documents.length };
  });
  const run: RunState = {
    id: asId('run'),
    pipeline: 'cognify_pipeline',
    dataset: DATASET.id,
    datasetName: 'notes',
    status: 'DATASET_PROCESSING_COMPLETED',
    ...NO_RESULT,
    startedAt: AT,
    endedAt: AT,
    ...end,
  };
  await messenger.serve('cognify.StartRun', async () => ({ run }));
  const principal = { id: ADA.id, email: 'a@example.com', tenant: PERSONAL_TENANT, isSuperuser: false, parentId: null };
  const pass = { dataset: DATASET, context: { requestId: 'test', principal }, signal: new AbortController().signal };
  const keep = (...texts: readonly string[]) =>
    keepDocuments(
      { messenger },
      pass,
      texts.map((text, index) => ({ key: `k${index}`, name: `note ${index}.txt`, text, nodeSets: ['notes'] })),
    );
  return { sent, keep };
}

describe('keeping documents', () => {
  it('sends short documents unchanged', async () => {
    const { sent, keep } = await bridge();
    const run = await keep('one', 'two');
    expect(run.status).to.equal('DATASET_PROCESSING_COMPLETED');
    expect(sent).to.have.length(1);
    expect(sent[0]?.[1]).to.deep.equal({
      key: 'k1',
      name: 'note 1.txt',
      text: 'two',
      nodeSets: ['notes'],
      externalMetadata: {},
    });
  });

  it('splits long documents after lines, with a key and name per part', async () => {
    const { sent, keep } = await bridge();
    const text = Array.from({ length: 40_000 }, (_, day) => `Day ${day}: the moth 🦋 flew.`).join('\n');
    await keep(text);
    const parts = sent.flat();
    expect(parts.length).to.be.greaterThan(4);
    expect(parts.map((part) => part.text).join('') === text, 'whole').to.equal(true);
    expect(parts.slice(0, -1).every((part) => part.text.endsWith('.\n'))).to.equal(true);
    expect(parts[0]).to.include({ key: 'k0', name: 'note 0.txt' });
    expect(parts[1]).to.include({ key: 'k0-2', name: 'note 0-2.txt' });
    for (const message of sent) {
      const bytes = message.reduce((sum, part) => sum + Buffer.byteLength(part.text), 0);
      expect(bytes, 'what a bus takes').to.be.below(2 ** 20);
    }
  });

  it('never splits inside a character, and sends well-formed text only', async () => {
    const { sent, keep } = await bridge();
    await keep(`a${'🦋'.repeat(150_000)}`, 'half a pair \ud83e');
    const parts = sent.flat().map((part) => part.text);
    expect(parts.every((part) => part.isWellFormed())).to.equal(true);
    expect(parts.at(-1)).to.equal('half a pair \ufffd');
    expect(parts.slice(0, -1).join('').length).to.equal(300_001);
  });

  it('throws the error of the run', async () => {
    const { keep } = await bridge({
      status: 'DATASET_PROCESSING_ERRORED',
      errorClass: 'LLMPaymentRequiredError',
      errorMessage: 'LLM budget exhausted: no credit',
      errorStatus: 402,
    });
    let error: unknown;
    await keep('one').catch((thrown: unknown) => {
      error = thrown;
    });
    expect(error).to.include({ wireName: 'LLMPaymentRequiredError', status: 402 });
  });

  it('throws when one of the documents could not be built, whatever happened to other items', async () => {
    const failure = { name: 'note 1', errorClass: 'CogneeValidationError', message: 'broken', isSetAside: false };
    const errored = (item: string) => ({ item: asId<never>(item), status: 'errored' as const, failure });
    const { keep } = await bridge({ items: [errored('k1')] });
    const error = await keep('one', 'two').catch((reason: unknown) => reason);
    expect(error).to.include({ wireName: 'CogneeValidationError', message: "'note 1' could not be built: broken" });
    const other = await bridge({ items: [errored('another')] });
    expect((await other.keep('one')).status).to.equal('DATASET_PROCESSING_COMPLETED');
  });
});
