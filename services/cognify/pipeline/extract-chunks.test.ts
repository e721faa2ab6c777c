import { expect } from 'chai';
import { capitalsExtractor, createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { ExtractedEntity, ExtractionInput, Extractor } from '../../common/ports/extractor.ts';
import { createKnownNames } from './extract-chunks.ts';

/** Records its calls, as a paid model would charge them. */
function countingExtractor(delayMs = 0) {
  const asked: ExtractionInput[] = [];
  const extractor: Extractor = {
    version: 'model/test',
    async extract(input, context) {
      asked.push(input);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      return capitalsExtractor.extract(input, context);
    },
  };
  return { extractor, asked };
}

const models = { keepExtractions: true };
/** A chunk of its own at a chunk size of 40 tokens. */
const paragraph = (name: string) =>
  `${name} met Grace. ${'They spoke of the river and the house for hours. '.repeat(2)}`;

async function reset(world: TestWorld, ...items: { readonly id: string }[]): Promise<void> {
  await world.ledger.reset(scopeOf(world.dataset), items.map(({ id }) => id) as never, new Date().toISOString());
}

describe('asking the extractor', () => {
  it('calls the extractor once for the same text in two items, also while the first call is in flight', async () => {
    const world = await createWorld();
    const { extractor, asked } = countingExtractor(20);
    await using cognify = await startCognify(world, { extractor, models });
    await world.addText('one', 'Ada met Grace.');
    await world.addText('two', 'Ada met Grace.');
    await cognify.run();
    expect(asked).to.have.length(1);
    await world.addText('three', 'Ada met Grace.');
    await cognify.run();
    expect(asked).to.have.length(1);
  });

  it('calls the extractor again for another prompt or graph model, and caches all answers', async () => {
    const world = await createWorld();
    const { extractor, asked } = countingExtractor();
    await using cognify = await startCognify(world, { extractor, models });
    const item = await world.addText('one', 'Ada met Grace.');
    const options = [{}, { customPrompt: 'Only cities.' }, { graphModel: { title: 'City', type: 'object' } }];
    for (const once of [...options, ...options]) {
      await cognify.run(once);
      await reset(world, item);
    }
    expect(asked).to.have.length(3);
    expect(asked[1]).to.include({ customPrompt: 'Only cities.' });
    expect(asked[2]?.graphModel).to.deep.equal({ title: 'City', type: 'object' });
  });

  it('does not reuse an answer that was given with the known names of another item', async () => {
    const world = await createWorld();
    const { extractor, asked } = countingExtractor();
    await using cognify = await startCognify(world, { extractor, models });
    const end = Array.from({ length: 16 }, (_, index) => `She left in the year ${index}. ${'It was late. '.repeat(8)}`);
    const story = (name: string) => [
      paragraph(name),
      ...Array.from({ length: 15 }, (_, at) => paragraph(`${name} ${at}`)),
      ...end,
    ];
    await world.addText('ada', story('Ada').join('\n\n'));
    await cognify.run({ chunkSize: 40 });
    const first = asked.length;
    await world.addText('alan', story('Alan').join('\n\n'));
    await cognify.run({ chunkSize: 40 });
    const names = asked.slice(first).flatMap(({ knownNames }) => knownNames.map(({ name }) => name));
    expect(asked.slice(first).some(({ text }) => text.startsWith('She left'))).to.equal(true);
    expect(names).to.include('Alan').and.not.include('Ada');
  });

  it('reuses the answers of an item after an edit elsewhere in it', async () => {
    const world = await createWorld();
    const { extractor, asked } = countingExtractor();
    await using cognify = await startCognify(world, { extractor, models });
    const parts = Array.from({ length: 40 }, (_, index) => paragraph(`Person${index}`));
    const item = await world.addText('long', parts.join('\n\n'));
    await cognify.run({ chunkSize: 40 });
    const first = asked.length;
    expect(first).to.be.above(32);
    await world.addText('long', [paragraph('Newcomer'), ...parts.slice(1)].join('\n\n'), { id: item.id });
    await cognify.run({ chunkSize: 40 });
    expect(asked.length - first).to.be.within(1, 2);
  });

  it('calls the extractor for an item when the same call of another item failed', async () => {
    const world = await createWorld();
    let calls = 0;
    const extractor: Extractor = {
      version: 'model/test',
      async extract(input, context) {
        calls += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (calls === 1) throw new Error('once');
        return capitalsExtractor.extract(input, context);
      },
    };
    await using cognify = await startCognify(world, { extractor, models, settings: { raiseItemErrors: false } });
    await world.addText('one', 'Ada met Grace.');
    const two = await world.addText('two', 'Ada met Grace.');
    const run = await cognify.run();
    expect(run.items).to.deep.include({ item: two.id, status: 'completed' });
    expect(calls).to.equal(2);
  });
});

const entity = (name: string, mentions = 1, type = 'Person'): ExtractedEntity => ({
  name,
  type,
  mentions,
  description: '',
  aliases: [],
});

describe('known names of a document', () => {
  it('are the names of earlier chunks, most mentioned first, without those only in headings', () => {
    const names = createKnownNames();
    expect(names.list()).to.deep.equal([]);
    names.add([entity('Ada'), entity('Grace', 2)], ['Engine']);
    expect(names.list()).to.deep.equal([
      { name: 'Grace', type: 'Person' },
      { name: 'Ada', type: 'Person' },
    ]);
  });

  it('get the type from the chunks that have one', () => {
    const names = createKnownNames();
    names.add([entity('Queequeg', 91, 'Concept')], []);
    names.add([entity('Queequeg', 8)], []);
    expect(names.list()).to.deep.equal([{ name: 'Queequeg', type: 'Person' }]);
  });

  it('are at most 200, including a name that is mentioned often only later', () => {
    const names = createKnownNames();
    names.add(
      Array.from({ length: 300 }, (_, at) => entity(`Name ${at}`, 2)),
      [],
    );
    expect(names.list()).to.have.length(200);
    names.add([entity('Name 299', 5)], []);
    expect(names.list()[0]?.name).to.equal('Name 299');
    expect(names.list()).to.have.length(200);
  });
});
