import { expect } from 'chai';
import { createSearchWorld, type WorldPassage } from '../../../test/support/search-world.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { createRetriever } from '../retrieval/pipeline.ts';
import { extractiveAnswer } from './extractive.ts';

async function firstLine(query: string, passages: readonly WorldPassage[]): Promise<string> {
  const world = await createSearchWorld();
  const dataset = world.dataset('notes');
  await world.fill(dataset, passages);
  const retriever = createRetriever({ indexes: world.indexes, ledger: world.ledger });
  const retrieval = await retriever.retrieve({ scope: scopeOf(dataset), query, vector: null, limit: 5 });
  return extractiveAnswer(query, retrieval, retrieval.passages).text.split('\n')[0] ?? '';
}

describe('answers from notes, chats and code', () => {
  const notes: readonly WorldPassage[] = [
    {
      title: 'boat',
      text: '# Boat\n\nWe sold the trawler in May. The mooring had become too dear. Now we rent a canoe.\n\n## Start the engine\n\n1. Open the fuel valve.\n2. Press the primer twice.\n3. Pull the cord.\n\n## Harbour\n\n- Berth\n  - number: 17\n  - fee: 400 euros\n- Crane\n  - number: 3\n\nThe harbour master comes on Friday between 9 and 10 in the morning.',
    },
    {
      title: 'talk',
      text: '[18:02] Lena: Where did you leave the oars?\n\n[18:04] Jonas: Behind the freezer in the cellar.\n\n[18:05] Lena: Thanks!\n\n[18:20] Lena: Why did Oskar stay at home?\n\n[18:22] Jonas: He has an exam tomorrow.',
    },
    {
      title: 'pump.ts',
      text: "const PUMP_TIMEOUT_MS = 30_000;\n\nexport function pump(level: number, mode = 'gentle') {\n  return run(level, process.env.PUMP_DEVICE ?? '/dev/pump0');\n}\n",
    },
  ];

  it('give the reason that the next sentence says', async () => {
    expect(await firstLine('Why did we sell the trawler?', notes)).to.equal(
      '"We sold the trawler in May. The mooring had become too dear." (boat)',
    );
  });

  it('give the reason that the sentences before or the section for reasons say', async () => {
    const rust = {
      title: 'rust',
      text: '# Rust\n\nThe collector paused for a second. For this reason we rewrote the ledger in Rust.',
    };
    expect(await firstLine('Why was the ledger rewritten in Rust?', [rust])).to.match(/^"The collector paused/);
    const oven = {
      title: 'oven',
      text: '# Oven\n\n- It broke down twice. Therefore we buy a new oven.\n- We sell bread.',
    };
    expect(await firstLine('Why do we buy a new oven?', [oven])).to.match(/^"It broke down twice\. Therefore/);
    const sql = {
      title: 'sql',
      text: '# ADR 1: SQLite\n\n## Context\n\nNobody runs a server at home.\n\n## Decision\n\nWe store all notes in SQLite.',
    };
    expect(await firstLine('Why did we choose SQLite?', [sql])).to.include('in SQLite. Nobody runs a server at home.');
  });

  it('name the thing that is only called it, for a question how something is done', async () => {
    const text = '# Edge\n\n## Rollback\n\nThe old certificate stays in /etc/old. Copy it back and reload the proxy.\n';
    expect(await firstLine('How do I copy the certificate back?', [{ title: 'guide', text }])).to.include(
      'in /etc/old. Copy it',
    );
  });

  it('give the steps below a heading that the question names', async () => {
    const text = '# Sorter\n\nThe project was developed by Ada.\n\n## Setting up\n\n1. Clone it.\n2. Run the tests.\n';
    expect(await firstLine('How do I set up the project for development?', [{ title: 'guide', text }])).to.match(
      /^"1\. Clone it\. 2\. Run/,
    );
  });

  it('give all steps of a list in their order', async () => {
    expect(await firstLine('How do I start the engine of the boat?', notes)).to.equal(
      '"1. Open the fuel valve. 2. Press the primer twice. 3. Pull the cord." (boat › Start the engine)',
    );
  });

  it('name the thing that is only called it, for a question how something is done', async () => {
    const text = '# Edge\n\n## Rollback\n\nThe old certificate stays in /etc/old. Copy it back and reload the proxy.\n';
    expect(await firstLine('How do I copy the certificate back?', [{ title: 'guide', text }])).to.include(
      'in /etc/old. Copy it',
    );
  });

  it('give the steps below a heading before a sentence that only describes', async () => {
    const bread = '# Rye bread\n\nMakes two loaves.\n\n1. Mix all.\n2. Bake for an hour.';
    expect(await firstLine('How do I bake rye bread?', [{ title: 'recipe', text: bread }])).to.match(
      /^"1\. Mix all\. 2\./,
    );
  });

  it('tell values of nested keys by all keys above them', async () => {
    const text = 'alerts:\n  slack:\n    channel: "#harbor"\n  mail:\n    to: ops@harbor.example\nkeep_days: 14\n';
    expect(await firstLine('Which Slack channel gets the alerts?', [{ title: 'settings', text }])).to.match(
      /^#harbor: /,
    );
  });

  it('tell values of a nested list by the item around them', async () => {
    expect(await firstLine('What is the number of the crane?', notes)).to.include('"number: 3" (boat › Harbour)');
    expect(await firstLine('What is the number of the berth?', notes)).to.include('"number: 17" (boat › Harbour)');
  });

  it('give the time of the day that is asked for, and not the date', async () => {
    expect(await firstLine('What time does the harbour master come?', notes)).to.match(
      /^between 9 and 10 in the morning: "The harbour master/,
    );
    const talk = '[10:01] Ada: What time do we meet?\n\n[10:02] Bo: At 8:15 by the lighthouse.\n\n[10:03] Ada: Fine.';
    expect(await firstLine('What time do we meet?', [{ title: 'talk', text: talk }])).to.match(
      /^(?:At )?8:15: "At 8:15/,
    );
  });

  it('are what the others reply to a question in a chat, never the question', async () => {
    expect(await firstLine('Where are the oars?', notes)).to.include(
      '"Behind the freezer in the cellar." (talk, Jonas, 18:04)',
    );
    expect(await firstLine('Why did Oskar stay at home?', notes)).to.equal(
      '"He has an exam tomorrow." (talk, Jonas, 18:22)',
    );
  });

  it('are values of constants, parameters and settings in code', async () => {
    expect(await firstLine('What is the timeout of the pump?', notes)).to.equal('"PUMP_TIMEOUT_MS = 30_000" (pump.ts)');
    expect(await firstLine('What is the default mode of the pump?', notes)).to.equal(`"mode = 'gentle'" (pump.ts)`);
    expect(await firstLine('What is the default pump device?', notes)).to.equal(
      `"PUMP_DEVICE = '/dev/pump0'" (pump.ts)`,
    );
  });
});
