import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCommand } from '../../test/support/run-command.ts';

const DATASET_ID = '0d6c1111-1111-4111-8111-111111111111';

/** Answers like a server of the contract, as far as the client asks, and keeps everything that came in. */
class StandInServer {
  readonly requests: { method: string; path: string; body: unknown; headers: IncomingMessage['headers'] }[] = [];
  readonly stored = new Map<string, string>();
  readonly #server: Server = createServer((request, response) => {
    void this.#answer(request).then(({ status, body, headers = {} }) => {
      const isText = typeof body === 'string';
      response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers });
      response.end(isText ? body : JSON.stringify(body));
    });
  });
  progress: unknown[] = [];
  onProgress = (): void => {};
  answers: unknown[] | null = null;
  itemStatus: unknown = { total: 3, completed: 2, pending: 1, items: [] };
  failures: { status: number; body: unknown; headers?: Record<string, string> }[] = [];

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(
    request: IncomingMessage,
  ): Promise<{ status: number; body: unknown; headers?: Record<string, string> }> {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const bytes = await buffer(request);
    const body = await parseBody(request, bytes);
    this.requests.push({ method: request.method ?? '', path: request.url ?? '', body, headers: request.headers });
    const failure = this.failures.shift();
    if (failure !== undefined) return failure;
    switch (`${request.method} ${path}`) {
      case 'POST /api/v1/add':
        return this.#add(body);
      case 'POST /api/v1/cognify':
        return {
          status: 200,
          body: {
            [DATASET_ID]: {
              status: 'PipelineRunStarted',
              pipeline_run_id: 'run-1',
              dataset_id: DATASET_ID,
              dataset_name: 'main_dataset',
            },
          },
        };
      case 'GET /api/v1/datasets/status/progress':
        this.onProgress();
        return {
          status: 200,
          body: { [DATASET_ID]: this.progress.shift() ?? { status: 'DATASET_PROCESSING_COMPLETED', progress: null } },
        };
      case 'GET /api/v1/datasets':
        return { status: 200, body: [{ id: DATASET_ID, name: 'main_dataset', createdAt: '2026-01-02T03:04:05Z' }] };
      case 'GET /health':
        return { status: 200, body: { status: 'ready', version: '1.6.5' } };
      case `GET /api/v1/datasets/${DATASET_ID}/processing-status`:
        return { status: 200, body: this.itemStatus };
      case 'POST /api/v1/search':
        return {
          status: 200,
          body: this.answers ?? [
            { dataset_id: DATASET_ID, dataset_name: 'main_dataset', search_result: ['Ada lives in Oslo.'] },
          ],
        };
      case 'POST /api/v1/recall':
        return { status: 200, body: [{ source: 'graph', text: 'Oslo.', dataset_name: 'main_dataset', metadata: {} }] };
      case 'POST /api/v1/forget':
        return {
          status: 200,
          body: { dataset_id: DATASET_ID, status: 'success', removed: { items: 1, graph: 12 }, residue: 0 },
        };
      case 'GET /api/v1/visualize':
        return { status: 200, body: '<html>graph</html>' };
      default:
        return { status: 404, body: { detail: 'Not Found' } };
    }
  }

  async #add(body: unknown): Promise<{ status: number; body: unknown }> {
    const contents =
      body instanceof FormData
        ? await Promise.all(body.getAll('data').map((entry) => (entry as File).text()))
        : (body as { data: string[] }).data;
    const names = body instanceof FormData ? body.getAll('data').map((entry) => (entry as File).name) : [];
    const refused = contents.flatMap((content, index) =>
      content.includes('UNREADABLE')
        ? [{ index, name: names[index] ?? null, error_class: 'UnreadableFileContentError', message: 'it is encrypted' }]
        : [],
    );
    if (refused.length === contents.length) {
      return { status: 415, body: { detail: 'it is encrypted [UnreadableFileContentError]' } };
    }
    const readable = contents.filter((content) => !content.includes('UNREADABLE'));
    const infos = readable.map((content) => {
      const hash = createHash('md5').update(content).digest('hex');
      const known = this.stored.get(hash);
      if (known === undefined) this.stored.set(hash, randomUUID());
      return {
        data_id: this.stored.get(hash),
        run_info: { status: known === undefined ? 'PipelineRunCompleted' : 'PipelineRunAlreadyCompleted' },
      };
    });
    return {
      status: 200,
      body: {
        status: 'PipelineRunCompleted',
        dataset_id: DATASET_ID,
        dataset_name: 'main_dataset',
        data_ingestion_info: infos,
        ...(refused.length === 0 ? {} : { refused }),
      },
    };
  }
}

async function parseBody(request: IncomingMessage, bytes: Buffer): Promise<unknown> {
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/'))
    return new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  return bytes.length === 0 ? null : (JSON.parse(bytes.toString()) as unknown);
}

describe('command-line client', () => {
  let server: StandInServer;
  let url: string;
  let folder: string;
  const listeners = new Set<() => void>();

  beforeEach(async () => {
    server = new StandInServer();
    url = await server.start();
    folder = await mkdtemp(join(tmpdir(), 'engram-cli-'));
  });

  afterEach(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    return runWith({}, ...args);
  }

  async function runWith(
    given: { stdin?: string; environment?: Record<string, string>; isInteractive?: boolean },
    ...args: string[]
  ) {
    const { stdin = '', environment, ...more } = given;
    return runCommand(args, {
      ...more,
      input: Readable.from([stdin]),
      onInterrupt(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      environment: { ENGRAM_URL: url, ...environment },
    });
  }

  const lastBody = (): Record<string, unknown> => server.requests.at(-1)?.body as Record<string, unknown>;

  describe('help and mistakes', () => {
    it('explains itself and each command', async () => {
      expect((await run('--help')).out).to.match(/Remember and ask:\n {2}add /);
      for (const command of [
        'add',
        'import',
        'cognify',
        'status',
        'search',
        'recall',
        'datasets',
        'forget',
        'visualize',
        'jobs',
        'audit',
        'receipt',
      ]) {
        const { code, out } = await run(command, '--help');
        expect(code, command).to.equal(0);
        expect(out).to.match(new RegExp(`^Usage: engram ${command}`));
        expect(out).to.contain('--api-key');
      }
      expect(server.requests).to.be.empty;
    });

    it('ends with 2 and one line for a wrong command line', async () => {
      for (const args of [
        ['nonsense'],
        ['add'],
        ['search'],
        ['add', '--colour'],
        ['forget'],
        ['import', '/no/such/folder'],
        ['add', './missing.pdf'],
        ['search', 'x', '-k', 'many'],
      ]) {
        const { code, err } = await run(...args);
        expect(code, args.join(' ')).to.equal(2);
        expect(err).to.match(/^engram: .+\n$/);
      }
    });

    it('ends with 3 and says what to do when no server answers', async () => {
      const gone = new StandInServer();
      const goneUrl = await gone.start();
      await gone.stop();
      const { code, err } = await run('status', '--url', goneUrl);
      expect(code).to.equal(3);
      expect(err).to.contain(`No Engram server answers at ${goneUrl} (ECONNREFUSED)`).and.contain('npm start');
    });

    it('ends with 1 and the words of the server when it refuses', async () => {
      server.failures = [{ status: 403, body: { detail: 'no permission [PermissionDeniedError]' } }];
      expect(await run('search', 'x')).to.deep.equal({
        code: 1,
        out: '',
        err: 'engram: The server refused (403): no permission [PermissionDeniedError]\n',
      });
      server.failures = [{ status: 400, body: { detail: [{ loc: ['body', 'top_k'], msg: 'too large' }], body: null } }];
      expect((await run('search', 'x')).err).to.contain('body.top_k: too large');
      server.failures = [{ status: 401, body: { detail: 'Unauthorized' } }];
      expect((await run('search', 'x')).err).to.contain('ENGRAM_API_KEY');
    });

    it('sends the key of the flag before that of the environment', async () => {
      await runWith({ environment: { ENGRAM_API_KEY: 'from-environment' } }, 'datasets');
      expect(server.requests.at(-1)?.headers['x-api-key']).to.equal('from-environment');
      await runWith({ environment: { ENGRAM_API_KEY: 'from-environment' } }, 'datasets', '--api-key', 'from-flag');
      expect(server.requests.at(-1)?.headers['x-api-key']).to.equal('from-flag');
    });
  });

  describe('add', () => {
    it('sends text as text, standard input too', async () => {
      const { code, out } = await runWith({ stdin: 'from a pipe' }, 'add', 'Ada lives in Oslo.', '-', '-d', 'notes');
      expect(code).to.equal(0);
      expect(out).to.match(/^2 items added/);
      expect(lastBody()).to.deep.equal({ data: ['Ada lives in Oslo.', 'from a pipe'], datasetName: 'notes' });
    });

    it('uploads a file under its name, to a dataset by id', async () => {
      await writeFile(join(folder, 'été.md'), '# Summer');
      const { out } = await run('add', join(folder, 'été.md'), '-d', DATASET_ID);
      const form = server.requests.at(-1)?.body as FormData;
      expect((form.get('data') as File).name).to.equal('été.md');
      expect(form.get('datasetId')).to.equal(DATASET_ID);
      expect(out).to.match(/^1 item added/);
      expect((await run('add', join(folder, 'été.md'))).out).to.match(/^0 items added.*1 item already there/);
    });

    it('adds the good files and texts, names the refused file and ends with 1', async () => {
      const [good, bad] = [join(folder, 'good.txt'), join(folder, 'bad.txt')];
      await writeFile(good, 'A readable file.');
      await writeFile(bad, 'UNREADABLE');
      const { code, out, err } = await run('add', good, bad, 'A sentence of its own.');
      expect(code).to.equal(1);
      expect(out).to.match(/^2 items added to main_dataset, 1 refused\n/);
      expect(err).to.equal('refused: bad.txt: it is encrypted\n');
      const onlyText = await run('add', bad, 'Another sentence.');
      expect(onlyText.code).to.equal(1);
      expect(onlyText.out).to.match(/^1 item added to main_dataset\n/);
      expect(onlyText.err).to.match(/^The server refused \(415\): it is encrypted/);
    });
  });

  describe('import', () => {
    beforeEach(async () => {
      await mkdir(join(folder, 'sub', 'node_modules', 'x'), { recursive: true });
      await mkdir(join(folder, '.git'));
      for (let index = 0; index < 20; index += 1)
        await writeFile(join(folder, 'sub', `note-${String(index).padStart(2, '0')}.txt`), `note ${index}`);
      await writeFile(join(folder, '.git', 'config.txt'), 'hidden');
      await writeFile(join(folder, '.secret.txt'), 'hidden');
      await writeFile(join(folder, 'sub', 'node_modules', 'x', 'readme.md'), 'tool');
      await writeFile(join(folder, 'picture.png'), Buffer.from('89504e470d0a1a0a0000000d4948445200000001', 'hex'));
      await writeFile(join(folder, 'empty.txt'), '');
      await writeFile(join(folder, 'huge.txt'), 'x'.repeat(200_000));
      await symlink('/etc/hostname', join(folder, 'link.txt'));
    });

    it('adds the documents of a folder, passes over the rest, and sends nothing new the second time', async () => {
      const first = await run('import', folder, '--max-size', '0.1', '--json');
      expect(first.code).to.equal(0);
      const answer = JSON.parse(first.out) as { added: number; skipped: { relativePath: string; reason: string }[] };
      expect(answer.added).to.equal(20);
      expect(answer.skipped).to.have.deep.members([
        { relativePath: 'empty.txt', reason: 'empty' },
        { relativePath: 'huge.txt', reason: 'too large' },
        { relativePath: 'link.txt', reason: 'symbolic link' },
        { relativePath: 'picture.png', reason: 'not a document' },
      ]);
      expect(server.requests).to.have.length(2);
      const sent = server.requests.flatMap(
        ({ body }) => JSON.parse(String((body as FormData).get('external_metadata'))) as unknown[],
      );
      expect(sent).to.have.length(20).and.deep.include({ source_path: 'sub/note-00.txt' });
      const second = await run('import', folder, '--max-size', '0.1');
      expect(second.out).to.match(/^0 files added to main_dataset, 20 already there, 4 passed over/);
      expect(second.err).to.contain('passed over: empty.txt (empty)\npassed over: huge.txt (too large)\n');
    });

    it('adds the good files of a batch when one is refused, names the bad one and ends with 1', async () => {
      await writeFile(join(folder, 'sub', 'locked.txt'), 'UNREADABLE');
      const { code, out, err } = await run('import', join(folder, 'sub'));
      expect(code).to.equal(1);
      expect(out).to.match(/^20 files added to main_dataset, 1 failed/);
      expect(err).to.match(/^failed: locked.txt: it is encrypted/);
      expect(server.requests).to.have.length(2);
    });

    it('waits and tries again when the server is busy', async () => {
      server.failures = [{ status: 503, body: { detail: 'starting' }, headers: { 'retry-after': '0' } }];
      expect((await run('import', join(folder, 'sub'))).out).to.match(/^20 files added/);
    });

    it('stops at once when the key is wrong', async () => {
      server.failures = Array.from({ length: 9 }, () => ({ status: 401, body: { detail: 'Unauthorized' } }));
      expect((await run('import', join(folder, 'sub'))).code).to.equal(1);
      expect(server.requests.length).to.be.at.most(2);
    });

    it('shows a bar with counts to a person', async () => {
      const { err } = await runWith({ isInteractive: true }, 'import', join(folder, 'sub'));
      expect(err)
        .to.contain('Importing')
        .and.match(/\d+\/20 files/);
    });

    it('only lists with --dry-run', async () => {
      const { out } = await run('import', join(folder, 'sub'), '--dry-run');
      expect(out.split('\n')).to.include('note-07.txt');
      expect(server.requests).to.be.empty;
    });

    it('cognifies afterwards when asked', async () => {
      const { code, out } = await run('import', join(folder, 'sub'), '--cognify');
      expect(code).to.equal(0);
      expect(out).to.match(/20 files added[^\n]+\nmain_dataset is ready/);
    });
  });

  describe('cognify', () => {
    it('follows the run to its end', async () => {
      const started = 'DATASET_PROCESSING_STARTED';
      server.progress = [
        { status: started, progress: null },
        { status: started, progress: { completed_items: 1, total_items: 4, current_stage: 'extract' } },
      ];
      const { code, out } = await run('cognify');
      expect(code).to.equal(0);
      expect(out).to.match(/^main_dataset is ready/);
      expect(server.requests[1]?.body).to.deep.equal({ dataset_ids: [DATASET_ID], run_in_background: true });
    });

    it('ends with 1 when the run fails, and says why', async () => {
      server.progress = [{ status: 'DATASET_PROCESSING_ERRORED', progress: null, error: 'no credit [PaymentError]' }];
      const { code, err } = await run('cognify');
      expect(code).to.equal(1);
      expect(err).to.equal('engram: the run of main_dataset failed: no credit [PaymentError] (run run-1)\n');
    });

    it('names the items that a finished run left out, with their reasons, and ends with 1', async () => {
      const error = '2 items could not be built. [PipelineRunFailedError]';
      server.progress = [{ status: 'DATASET_PROCESSING_COMPLETED', progress: null, error }];
      const failure = { error_class: 'Error', error_message: 'it is cut off', tries: 1, is_set_aside: false };
      server.itemStatus = {
        total: 3,
        completed: 1,
        pending: 2,
        failed: 2,
        items: [
          { id: 'id-1', name: 'letter', completed: false, failure },
          { id: 'id-2', name: 'notes', completed: true },
          { id: 'id-3', name: 'plan', completed: false, failure: { ...failure, tries: 3, is_set_aside: true } },
        ],
      };
      const { code, out, err } = await run('cognify');
      expect(code).to.equal(1);
      expect(out).to.match(/^main_dataset is ready/);
      expect(err.split('\n')).to.deep.equal([
        'engram: 2 items of main_dataset could not be built:',
        '  letter (id-1): it is cut off',
        '  plan (id-3): it is cut off (set aside after 3 tries)',
        'Items that were set aside wait for: engram datasets retry -d main_dataset',
        '',
      ]);
    });

    it('does not wait with --no-wait', async () => {
      expect((await run('cognify', '--no-wait')).out).to.equal('run run-1 started for main_dataset\n');
      expect(server.requests).to.have.length(2);
    });

    it('refuses a dataset that there is not, and makes none', async () => {
      const { code, err } = await run('cognify', '-d', 'nope');
      expect(code).to.equal(1);
      expect(err).to.contain("There is no dataset 'nope'. There are: main_dataset.");
      expect(server.requests.map(({ method }) => method)).to.deep.equal(['GET']);
    });

    it('shows a person the chunks of items that are being built', async () => {
      const chunks = { completed: 48, total: 375 };
      server.progress = [{ status: 'DATASET_PROCESSING_STARTED', progress: null, chunks }];
      const { err } = await runWith({ isInteractive: true }, 'cognify');
      expect(err).to.contain('0/1 items').and.contain('48/375 chunks').and.contain('1/1 items | done');
      expect(err).to.not.match(/\d{7}|NaN|INF/);
    });

    it('gives the cursor back and says that the server goes on when it is interrupted', async () => {
      const started = { status: 'DATASET_PROCESSING_STARTED', progress: null };
      server.progress = Array.from({ length: 9 }, () => started);
      server.onProgress = () => {
        if (server.progress.length === 5) for (const listener of listeners) listener();
      };
      const { err } = await runWith({ isInteractive: true }, 'cognify');
      const [, afterwards] = err.split('\u001b[?25l');
      expect(afterwards).to.contain('\u001b[?25h');
      expect(afterwards).to.contain('The server goes on. See how far it is: engram status -d main_dataset\n');
      expect(listeners.size).to.equal(0);
    });
  });

  it('status shows the server and each dataset', async () => {
    const { out } = await run('status');
    expect(out)
      .to.contain('ready, API of cognee 1.6.5')
      .and.match(/main_dataset +3 +2 +0 +completed/);
  });

  it('search asks as told and prints the answer', async () => {
    expect(await run('search', 'Where', 'is', 'Ada?', '-t', 'chunks', '-k', '3', '-d', 'main_dataset')).to.deep.equal({
      code: 0,
      out: 'Ada lives in Oslo.\n',
      err: '',
    });
    expect(lastBody()).to.deep.equal({
      query: 'Where is Ada?',
      search_type: 'CHUNKS',
      only_context: false,
      top_k: 3,
      dataset_ids: [DATASET_ID],
    });
  });

  it('search in all datasets shows only those that have something, and says where it is from', async () => {
    const from = (text: string, document_name: string, metadata: object | null) => ({
      text,
      document_name,
      external_metadata: metadata === null ? null : JSON.stringify(metadata),
    });
    const text = 'A sentence that nobody gave a name, and that goes on for longer than a line of the screen is.';
    server.answers = [
      { dataset_name: 'empty', search_result: [] },
      { dataset_name: 'silent', search_result: ['Nothing in memory answers this question.'] },
      {
        dataset_name: 'notes',
        search_result: [
          from('one', 'stem', { source_path: 'sub/one.md', _cognee: { source_uri: 'file:///one.md' } }),
          from('two', 'stem', { _cognee: { source_uri: 'file:///a%20b.txt' } }),
          from(text, `text_${'0'.repeat(32)}`, null),
        ],
      },
    ];
    expect((await run('search', 'x')).out).to.equal(
      [
        '[notes]',
        'one\n  — sub/one.md\n',
        'two\n  — a b.txt\n',
        `${text}\n  — "A sentence that nobody gave a name, and that goes on for …"\n`,
      ].join('\n'),
    );
    server.answers = server.answers.slice(0, 2);
    expect((await run('search', 'x')).out).to.equal('nothing found\n');
    server.answers = [
      {
        dataset_name: 'notes',
        search_result: [
          ['Ada', 1, null],
          [{ id: 'x' }, 'in\nOslo'],
        ],
      },
    ];
    expect((await run('search', 'x', '-t', 'cypher')).out).to.equal('Ada\t1\tnull\n{"id":"x"}\tin Oslo\n');
  });

  it('asks the graph of code for an operation with its options, and shows places in files', async () => {
    const node = { name: 'start', kind: 'symbol', symbol_kind: 'function', file: 'main.ts', line: 4 };
    const result = { operation: 'impact_analysis', summary: '1 depends.', by_depth: { 1: [node] } };
    server.answers = [{ dataset_name: 'main_dataset', search_result: result }];
    const asked = ['code', 'impact_analysis', 'priceOf', '--set', 'max_depth=2', '-d', 'main_dataset'];
    expect((await run(...asked)).out).to.equal('1 depends.\n1  start (function)  main.ts:4\n');
    expect(server.requests.at(-1)?.body).to.deep.include({
      query: 'priceOf',
      search_type: 'CODE',
      code_query: { operation: 'impact_analysis', max_depth: 2 },
    });
    expect((await run('code', 'find_path', 'main.ts')).err).to.include('find_path needs two names');
    expect((await run('code', 'hubs', '--set', 'limit')).err).to.include("'limit' is not OPTION=VALUE");
  });

  describe('as a process', () => {
    const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
    const start = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
      spawn(process.execPath, [MAIN, ...args], { cwd: tmpdir(), env: { ENGRAM_URL: url, ...environment } });

    it('takes paths from the folder in which npm was called', async () => {
      await mkdir(join(folder, 'notes'));
      await writeFile(join(folder, 'notes', 'one.txt'), 'one');
      const child = start(['import', 'notes', '--dry-run'], { npm_lifecycle_event: 'engram', INIT_CWD: folder });
      expect(await readText(child.stdout)).to.equal('one.txt\n');
    });

    it('ends without an error when its reader has seen enough', async () => {
      server.answers = [{ dataset_name: 'notes', search_result: Array.from({ length: 50_000 }, () => 'much to read') }];
      const child = start(['search', 'x']);
      const errors = readText(child.stderr);
      child.stdout.once('data', () => child.stdout.destroy());
      expect(await once(child, 'exit')).to.deep.equal([0, null]);
      expect(await errors).to.equal('');
    });
  });

  it('recall leaves the choice to the server and names the sources', async () => {
    expect((await run('recall', 'Where is Ada?', '-s', 's1')).out).to.equal('Oslo.\n  — main_dataset, graph\n');
    expect(lastBody()).to.deep.equal({ query: 'Where is Ada?', search_type: null, session_id: 's1' });
  });

  describe('forget', () => {
    it('never has a default and never acts unasked', async () => {
      expect((await run('forget', '--yes')).code).to.equal(2);
      expect((await run('forget', '-d', 'notes')).err).to.contain('--yes');
      expect((await run('forget', '--everything', '-d', 'notes', '--yes')).code).to.equal(2);
      const named = await run('forget', '-d', 'notes', '--item', 'ada.txt', '--yes');
      expect(named).to.deep.include({ code: 2 });
      expect(named.err).to.contain("'ada.txt' is not the id of an item. See: engram items --dataset notes");
      const asked = await runWith({ stdin: 'n\n', isInteractive: true }, 'forget', '--everything');
      expect(asked.code).to.equal(1);
      expect(asked.err).to.contain('Forget everything?');
      expect(server.requests).to.be.empty;
    });

    it('forgets what it is told', async () => {
      const item = randomUUID();
      expect((await run('forget', '-d', 'notes', '--item', item, '--yes')).out).to.equal(
        `forgotten: item ${item} of notes\nRemoved: items 1, graph 12; left: 0\n`,
      );
      expect(lastBody()).to.deep.equal({ dataset: 'notes', dataId: item });
      await runWith({ stdin: 'y\n', isInteractive: true }, 'forget', '--everything');
      expect(lastBody()).to.deep.equal({ everything: true });
    });
  });

  it('mcp prints how agents start it: by name where it is installed, else by its file', async () => {
    const command = async (path: string) => {
      const { out } = await runWith({ environment: { PATH: path } }, 'mcp', '--print');
      return JSON.parse(out).mcpServers.engram as { command: string; args: string[] };
    };
    await mkdir(join(folder, 'bin/.bin'), { recursive: true });
    for (const name of ['engram', 'engram.cmd', '.bin/engram']) await writeFile(join(folder, 'bin', name), '');
    expect(await command(join(folder, 'bin'))).to.deep.include({ command: 'engram', args: ['mcp'] });
    const { command: node, args } = await command(join(folder, 'bin/.bin'));
    const { stdout } = spawnSync(node, [args[0] ?? '', '--version'], { encoding: 'utf8' });
    expect(stdout).to.match(/^engram \d/);
    expect(args[1]).to.equal('mcp');
  });

  it('visualize saves the page', async () => {
    const file = join(folder, 'graph.html');
    expect((await run('visualize', '-o', file)).out).to.equal(`${file}\n`);
    expect(await readFile(file, 'utf8')).to.equal('<html>graph</html>');
    expect(server.requests.at(-1)?.path).to.equal(`/api/v1/visualize?dataset_id=${DATASET_ID}`);
    expect((await run('visualize', '-d', 'nope')).err).to.contain(
      "There is no dataset 'nope'. There are: main_dataset.",
    );
  });
});
