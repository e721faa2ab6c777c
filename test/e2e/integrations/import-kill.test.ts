import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { type EngramProcess, makeDataDir, startProcess } from '../../support/engram-process.ts';
import { describeWhenWhole } from '../../support/extent.ts';
import { startFakeGithub } from '../../support/fake-github.ts';
import { startFakeGoogle } from '../../support/fake-google.ts';
import { startFakeLinear } from '../../support/fake-linear.ts';
import { block, type FakePage, startFakeNotion } from '../../support/fake-notion.ts';
import { INSTALLER, startFakeSlack, tsAt } from '../../support/fake-slack.ts';
import { closed, startServer } from '../../support/listening.ts';
import { connectAccount, synced } from '../../support/source-steps.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

/** A provider with documents that are added one by one, from 1 on. */
interface Subject extends AsyncDisposable {
  readonly url: string;
  readonly variables: Readonly<Record<string, string>>;
  install(authorizeUrl: string): URLSearchParams | string;
  add(number: number): void;
}

interface KillCase {
  readonly provider: string;
  open(): Promise<Subject>;
  /** Documents of a page that the connector asks for. */
  readonly page: number;
  /** Names a document by the request for it alone: its address, and what was sent. */
  readonly asks: RegExp;
  /** What is chosen before anything is brought in; absent: it begins by itself. */
  readonly choice?: readonly string[] | null;
}

const minute = (number: number) => new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString();
const title = (number: number) => `Fault ${number}`;
const body = (number: number) => `The part ${number} of the engine fails.`;
const GOOGLE_PAGE = 20;

async function openGoogle(add: (google: Awaited<ReturnType<typeof startFakeGoogle>>, number: number) => void) {
  const google = await startFakeGoogle();
  google.state.page = GOOGLE_PAGE;
  google.calendar.calendar('ada@acme.test', 'Ada');
  return { ...google, install: google.consent, add: (number: number) => add(google, number) };
}

const CASES: readonly KillCase[] = [
  {
    provider: 'gmail',
    page: GOOGLE_PAGE,
    asks: /\/messages\/(\w+)\?.*format=raw/,
    choice: null,
    open: () =>
      openGoogle(({ mail }, number) => {
        mail.add(`Subject: ${title(number)}\r\nMessage-ID: <${number}@acme.test>\r\n\r\n${body(number)}`, 'INBOX');
      }),
  },
  {
    provider: 'github',
    page: 100,
    asks: /\/issues\/(\d+)\/comments/,
    async open() {
      const github = await startFakeGithub();
      const { issues } = github.add('acme/engine');
      return {
        ...github,
        install: (authorizeUrl) => github.install(new URL(authorizeUrl).searchParams.get('state') ?? ''),
        add(number) {
          const facts = { state: 'open' as const, user: 'ada', updated: minute(number), comments: [] };
          issues.set(number, { title: title(number), body: body(number), ...facts });
        },
      };
    },
  },
  {
    provider: 'google_drive',
    page: GOOGLE_PAGE,
    asks: /\/files\/(\w+)\?.*alt=media/,
    choice: null,
    open: () =>
      openGoogle(({ drive }, number) => {
        drive.add({ name: `${title(number)}.md`, content: body(number) });
      }),
  },
  {
    provider: 'google_calendar',
    page: GOOGLE_PAGE,
    asks: /\/events\/(\w+)/,
    choice: ['ada@acme.test'],
    open: () =>
      openGoogle(({ calendar }, number) => {
        const start = { dateTime: minute(number) };
        const texts = { summary: title(number), description: body(number) };
        calendar.put('ada@acme.test', { id: `event${number}`, ...texts, start, end: start });
      }),
  },
  {
    provider: 'slack',
    page: 20,
    asks: /conversations\.replies [^ ]*\bts=([\d.]+)/,
    async open() {
      const slack = await startFakeSlack();
      const { messages } = slack.add('engine');
      return {
        ...slack,
        install: (authorizeUrl) => slack.install(new URL(authorizeUrl).searchParams.get('state') ?? ''),
        add(number) {
          const ts = tsAt(minute(number));
          messages.push({ ts, user: INSTALLER, text: title(number) });
          messages.push({ ts: tsAt(minute(number), 5), user: 'U0TOM', text: body(number), thread_ts: ts });
        },
      };
    },
  },
  {
    // The rest of its comments is asked for issue by issue; the issues themselves come with their page.
    provider: 'linear',
    page: 50,
    asks: /"id":"(issue-\d+)"/,
    async open() {
      const linear = await startFakeLinear();
      const { id: team } = linear.team('ENG');
      return {
        ...linear,
        add(number) {
          const comments = Array.from({ length: 11 }, (_, at) => {
            const times = { createdAt: minute(number), updatedAt: minute(number) };
            return { id: `${number}.${at}`, body: `Remark ${at} about part ${number}.`, user: 'Grace', ...times };
          });
          linear.issue(team, title(number), { updatedAt: minute(number), comments });
        },
      };
    },
  },
  {
    provider: 'notion',
    page: 100,
    asks: /\/blocks\/([\w-]+)\/children/,
    async open() {
      const notion = await startFakeNotion();
      let top: FakePage | undefined;
      return {
        ...notion,
        // All are below the first one: pages at the top are read one by one.
        add(number) {
          const below = top === undefined ? {} : { parent: { type: 'page_id' as const, page_id: top.id } };
          const blocks = [block('paragraph', body(number))];
          const page = notion.page(title(number), blocks, { edited: minute(number), ...below });
          top ??= page;
        },
      };
    },
  },
];

/** Stands between a server and a provider: notes the requests, and holds the one back that `hold` is set to wait with. */
async function startGate(target: string) {
  const lines: string[] = [];
  const gate = { hold: async (_line: string): Promise<void> => {} };
  const forward = async (request: IncomingMessage): Promise<Response> => {
    const sent = await buffer(request);
    const line = `${request.url} ${sent.toString()}`;
    lines.push(line);
    await gate.hold(line);
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    return fetch(`${target}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      redirect: 'manual',
      ...(sent.length > 0 ? { body: new Uint8Array(sent) } : {}),
    });
  };
  const { server, url } = await startServer(async (request, response) => {
    const answer = await forward(request);
    const { 'content-encoding': _, ...headers } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
  });
  return {
    gate,
    lines,
    url,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** Begins a back-fill without waiting for its end. Returns the dataset that it goes into. */
async function begin(server: EngramProcess, { provider, choice }: KillCase, subject: Subject): Promise<unknown> {
  const wire = createWire(server.baseUrl);
  await connectAccount(server.baseUrl, provider, subject.install);
  if (choice !== undefined) {
    await fetch(`${server.baseUrl}/api/v1/integrations/${provider}/resources`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceIds: choice }),
    });
    await wire.post(`/integrations/${provider}/sync`, {});
  }
  if (provider === 'slack') {
    const { id } = (await wire.post('/datasets', { name: 'talk' })).json;
    // The answer comes with the end, or not at all.
    void importSlack(wire, id).catch(() => {});
    return id;
  }
  return until('the dataset', async () => (await wire.get(`/integrations/${provider}/connection`)).json.datasetId);
}

function importSlack(wire: Wire, dataset: unknown) {
  const selection = { dataset_id: dataset, channel_ids: ['C0ENGINE'], oldest: '2025-12-31T00:00:00Z' };
  return wire.post('/slack/history/T0ENGINE/import', selection);
}

async function stored(wire: Wire, { provider }: KillCase, dataset: unknown): Promise<void> {
  await until(
    'the end of the import',
    async () => {
      if (provider !== 'slack') {
        const { syncStatus, error } = (await wire.get(`/integrations/${provider}/connection`)).json;
        if (syncStatus === 'degraded') throw new Error(error);
        return syncStatus === 'ok';
      }
      const report = (await wire.get('/slack/history/T0ENGINE')).json.reports[dataset as string];
      if (report?.status === 'failed') throw new Error(report.error);
      return report?.status === 'completed';
    },
    { everyMs: 50 },
  );
}

/** The numbers of the documents that there are items of. */
async function numbersOf(wire: Wire, dataset: unknown): Promise<readonly number[]> {
  const items = (await wire.get(`/datasets/${dataset}/data?limit=1000`)).json as { name: string }[];
  return items.map(({ name }) => Number(/Fault (\d+)/.exec(name)?.[1])).toSorted((one, other) => one - other);
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

describeWhenWhole('a back-fill under kill -9', () => {
  for (const kind of CASES) {
    it(`of ${kind.provider} goes on with the page it was at, and stores every document once`, async () => {
      const { provider, page, asks } = kind;
      const documents = page + 12;
      await using subject = await kind.open();
      await using between = await startGate(subject.url);
      const asked = (from = 0) => between.lines.slice(from).flatMap((line) => asks.exec(line)?.[1] ?? []);
      for (const number of upTo(documents)) subject.add(number);
      const variables = Object.entries(subject.variables);
      const environment = Object.fromEntries(
        variables.map(([name, value]) => [name, value === subject.url ? between.url : value]),
      );
      const data = makeDataDir();
      const start = () => startProcess({ dataDir: data.path, environment });
      let server = await start();
      try {
        const isInTheMiddle = Promise.withResolvers<void>();
        between.gate.hold = async () => {
          if (asked().length < page + 6) return;
          isInTheMiddle.resolve();
          // The answer never comes: the process is killed while it waits.
          await new Promise(() => {});
        };
        const dataset = await begin(server, kind, subject);
        await isInTheMiddle.promise;
        await server.kill();
        const kept = new Set(asked().slice(0, page));
        expect(kept.size, 'documents of the first page').to.equal(page);
        const killedAt = between.lines.length;
        between.gate.hold = async () => {};

        server = await start();
        const wire = createWire(server.baseUrl);
        await stored(wire, kind, dataset);
        expect(await numbersOf(wire, dataset)).to.deep.equal(upTo(documents));
        const after = asked(killedAt);
        expect(
          after.filter((key) => kept.has(key)),
          'stored before',
        ).to.deep.equal([]);
        expect(new Set(after).size, 'fetched once')
          .to.equal(after.length)
          .and.to.equal(documents - page);
        await until('the graph', async () => {
          const { json } = await wire.get(`/datasets/status?dataset=${dataset}&pipeline=cognify_pipeline`);
          return json[dataset as string] === 'DATASET_PROCESSING_COMPLETED';
        });

        const endedAt = between.lines.length;
        subject.add(documents + 1);
        if (provider === 'slack') expect((await importSlack(wire, dataset)).json).to.include({ added: 1, updated: 0 });
        else {
          await synced(wire, provider);
          expect(asked(endedAt), 'the cursor tells what is new').to.have.length(1);
        }
        expect(await numbersOf(wire, dataset)).to.deep.equal(upTo(documents + 1));
      } finally {
        await server.stop();
        data.remove();
      }
    });
  }
});
