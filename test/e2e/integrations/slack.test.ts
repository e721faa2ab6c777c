import { expect } from 'chai';
import { type FakeChannel, type FakeSlack, INSTALLER, startFakeSlack, tsAt } from '../../support/fake-slack.ts';
import { commandLine, textsOf } from '../../support/source-steps.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

const TEXTS = 'application/json';

/** Connects as a browser does, and returns where it was sent back to. */
async function connect({ baseUrl }: StartedApp, slack: FakeSlack): Promise<string | null> {
  const begun = await fetch(`${baseUrl}/api/v1/integrations/slack/authorize`, { method: 'POST' });
  const { authorizeUrl } = (await begun.json()) as { authorizeUrl: string };
  const { origin, pathname, searchParams } = new URL(authorizeUrl);
  expect(`${origin}${pathname}`).to.equal(`${slack.url}/oauth/v2/authorize`);
  expect(searchParams.get('redirect_uri')).to.equal(slack.variables.SLACK_REDIRECT_URI);
  expect(searchParams.get('scope')).to.match(/^commands,chat:write,im:write,channels:read,channels:history/);
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
  const response = await fetch(
    `${baseUrl}/api/v1/integrations/slack/callback?${slack.install(searchParams.get('state') ?? '')}`,
    { redirect: 'manual', headers: { cookie } },
  );
  return response.headers.get('location');
}

async function put({ baseUrl }: Wire, path: string, body: object) {
  const sent = { method: 'PUT', headers: { 'content-type': TEXTS }, body: JSON.stringify(body) };
  const response = await fetch(`${baseUrl}/api/v1${path}`, sent);
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function makeDataset({ post }: Wire, name: string): Promise<string> {
  return (await post('/datasets', { name })).json.id as string;
}

/** Two messages of January, one of them with a thread and a file. */
function talk(slack: FakeSlack, channel: FakeChannel): { readonly first: string; readonly second: string } {
  const [first, second] = [tsAt('2026-01-05T10:42:00Z', 100), tsAt('2026-01-06T09:00:00Z', 200)];
  slack.files.set('F1', 'The Harbour Mill was built by Nora Lind in 1911.');
  const file = { id: 'F1', name: 'mill.txt', mimetype: 'text/plain', mode: 'hosted', size: 48 };
  const url = `${slack.url}/files/F1`;
  channel.messages.push(
    {
      ts: first,
      user: INSTALLER,
      text: 'We move the launch to <#C0X|march> because <@U0TOM> is away. See <https://e.test/a|the plan>.',
    },
    { ts: tsAt('2026-01-05T10:44:00Z'), user: 'U0TOM', text: 'I will order a new gear in Oslo.', thread_ts: first },
    {
      ts: second,
      user: 'U0TOM',
      text: 'Read &lt;this&gt; about the mill.',
      files: [{ ...file, url_private: url, url_private_download: url }],
    },
    { ts: tsAt('2026-01-06T09:05:00Z'), user: 'U0TOM', text: 'joined', subtype: 'channel_join' },
  );
  return { first, second };
}

describe('Slack', () => {
  let slack: FakeSlack;
  let app: StartedApp;
  let wire: Wire;
  beforeEach(async () => {
    slack = await startFakeSlack();
    app = await startApp(slack.variables);
    wire = createWire(app.baseUrl);
  });
  afterEach(async () => {
    await app.stop();
    await slack[Symbol.asyncDispose]();
  });
  const answered = (id: string) =>
    until('an answer in Slack', () =>
      slack.responses
        .filter((one) => one.id === id)
        .map(({ message }) => message)
        .at(-1),
    );

  it('is connected, lists its channels, and brings in threads with speakers, times and files', async () => {
    const engine = slack.add('engine');
    slack.add('secret', { isPrivate: true, isMember: false });
    const { first } = talk(slack, engine);
    slack.state.pageSize = 1;
    expect((await wire.get('/slack/channels')).json).to.deep.equal({ detail: 'Slack is not connected.' });
    expect(await connect(app, slack)).to.equal('http://console.test/integrations?slack=connected');
    const connection = (await wire.get('/integrations/slack/connection')).json;
    expect(connection).to.include({
      connected: true,
      accountLabel: 'Analytical Engines',
      providerAccountId: 'T0ENGINE',
    });
    expect(connection).to.include({ syncStatus: null, lastSyncedAt: null, selectable: false });
    expect((await wire.get('/slack/channels')).json).to.deep.equal({
      channels: [{ id: 'C0ENGINE', name: 'engine', isPrivate: false, allowed: true }],
    });
    const dataset = await makeDataset(wire, 'team');
    const selection = { dataset_id: dataset, channel_ids: ['C0ENGINE'], oldest: '2026-01-01T00:00:00Z' };
    const imported = await wire.post('/slack/history/T0ENGINE/import', selection);
    expect([imported.status, imported.json]).to.deep.equal([
      200,
      {
        dataset_id: dataset,
        conversations: 2,
        messages: 3,
        added: 3,
        updated: 0,
        unchanged: 0,
        deleted: 0,
        status: 'completed',
      },
    ]);
    const texts = await textsOf(wire, dataset);
    expect([...texts.keys()].toSorted()).to.deep.equal([
      '#engine 2026-01-05 We move the launch to #march because Tom Okoye is away. See…',
      '#engine 2026-01-06 Read this about the mill. (file mill.txt)',
      'mill',
    ]);
    const thread = [...texts].find(([name]) => name.includes('launch'))?.[1];
    expect(thread).to.equal(
      [
        '[2026-01-05 10:42] Ada Berg: We move the launch to #march because Tom Okoye is away. See the plan (https://e.test/a).',
        '[2026-01-05 10:44] Tom Okoye: I will order a new gear in Oslo.',
        '',
        'Written on Slack in the channel #engine on 2026-01-05.',
      ].join('\n'),
    );
    const again = await wire.post('/slack/history/T0ENGINE/import', selection);
    expect(again.json).to.include({ added: 0, updated: 0, unchanged: 3, deleted: 0 });
    const found = async () => {
      const query = { query: 'Who built the Harbour Mill?', search_type: 'HYBRID_COMPLETION', datasets: ['team'] };
      return JSON.stringify((await wire.post('/search', query)).json).includes('Nora Lind');
    };
    await until('a search that finds it', found);
    const other = {
      dataset_id: dataset,
      thread_links: [`https://engines.slack.com/archives/C0ENGINE/p${first.replace('.', '')}`],
    };
    expect((await wire.post('/slack/history/T0ENGINE/import', other)).json).to.include({ unchanged: 1, deleted: 0 });
    expect((await textsOf(wire, dataset)).size, 'what an import does not name stays').to.equal(3);
  });

  it('follows new, edited and deleted messages by a standing import', async () => {
    const engine = slack.add('engine');
    const { first, second } = talk(slack, engine);
    await connect(app, slack);
    expect((await wire.post('/integrations/slack/sync')).json).to.deep.equal({ accepted: false });
    const dataset = await makeDataset(wire, 'team');
    const selection = { dataset_id: dataset, channel_ids: ['C0ENGINE'], oldest: '2026-01-01T00:00:00Z' };
    const saved = await put(wire, '/slack/history/T0ENGINE/sync', { enabled: true, selection });
    expect(saved.status).to.equal(200);
    expect(saved.json).to.deep.include({ enabled: true, interval_seconds: 21_600 });
    const ended = async (after: string | null) =>
      until('the end of the import', async () => {
        const report = (await wire.get('/slack/history/T0ENGINE')).json.reports[dataset];
        return report?.status === 'completed' && report.finished_at !== after && report;
      });
    const before = await ended(null);
    expect(before.result).to.include({ added: 3, messages: 3 });
    const status = (await wire.get('/integrations/status')).json.integrations as {
      provider: string;
      syncStatus: string;
    }[];
    expect(status.find(({ provider }) => provider === 'slack')?.syncStatus).to.equal('ok');
    const reply = engine.messages[1];
    if (reply !== undefined)
      Object.assign(reply, { text: 'I will order it in Bergen.', edited: { user: 'U0TOM', ts: '1' } });
    engine.messages.splice(
      engine.messages.findIndex(({ ts }) => ts === second),
      1,
    );
    engine.messages.push({ ts: tsAt('2026-02-01T00:00:00Z'), user: 'U0TOM', text: 'Steam escapes.' });
    expect((await wire.post('/integrations/slack/sync')).json).to.deep.equal({ accepted: true });
    expect((await ended(before.finished_at)).result).to.include({ added: 1, updated: 1, unchanged: 0, deleted: 2 });
    const texts = await textsOf(wire, dataset);
    expect([...texts.values()].join('\n'))
      .to.contain('in Bergen')
      .and.contain('Steam')
      .and.not.contain('Oslo');
    expect(texts.has('mill'), 'the file goes with its message').to.equal(false);
    engine.messages.splice(0, engine.messages.length, { ts: first, user: INSTALLER, text: 'Only this.' });
    const off = await put(wire, '/slack/history/T0ENGINE/sync', { enabled: false });
    expect(off.json).to.include({ enabled: false });
    expect((await wire.post('/integrations/slack/sync')).json).to.deep.equal({ accepted: false });
    const after = (await wire.get('/slack/history/T0ENGINE')).json;
    expect(after.sync[dataset].enabled).to.equal(false);
  });

  it('waits as long as Slack asks, one thread at a time where it has to, and goes on where it was', async () => {
    const engine = slack.add('engine');
    for (let at = 0; at < 6; at += 1) {
      const ts = tsAt(`2026-01-0${at + 1}T00:00:00Z`);
      engine.messages.push({ ts, user: INSTALLER, text: `Fault ${at}` });
      engine.messages.push({
        ts: tsAt(`2026-01-0${at + 1}T01:00:00Z`),
        user: 'U0TOM',
        text: `Seen ${at}`,
        thread_ts: ts,
      });
    }
    await connect(app, slack);
    const dataset = await makeDataset(wire, 'team');
    slack.state.remaining.set('conversations.replies', 2);
    const selection = { dataset_id: dataset, channel_ids: ['C0ENGINE'], days: 3650 };
    const running = wire.post('/slack/history/T0ENGINE/import', selection);
    await until('the wait', async () => {
      const { connections } = (await wire.get('/integrations/connections')).json;
      return connections.some(({ waitingUntil }: { waitingUntil?: string }) => waitingUntil !== undefined);
    });
    const second = await wire.post('/slack/history/T0ENGINE/import', selection);
    expect([second.status, second.json.detail]).to.deep.equal([
      400,
      'An import of this team into this dataset is already running.',
    ]);
    slack.state.remaining.set('conversations.replies', 2);
    await until('the second wait', () => slack.state.remaining.get('conversations.replies') === 0);
    slack.state.remaining.clear();
    expect((await running).json).to.include({ conversations: 6, messages: 12, added: 6 });
  });

  it('says why an import brings in nothing: a channel without the app, a foreign team, a dataset, limits', async () => {
    slack.add('engine', { isMember: false });
    const lamp = slack.add('lamp');
    for (let at = 0; at < 5; at += 1)
      lamp.messages.push({ ts: tsAt('2026-01-01T00:00:00Z', at), user: INSTALLER, text: 'x' });
    await connect(app, slack);
    const dataset = await makeDataset(wire, 'team');
    const asked = async (change: object, team = 'T0ENGINE') => {
      const selection = { dataset_id: dataset, channel_ids: ['C0ENGINE'], days: 3650, ...change };
      const { status, json } = await wire.post(`/slack/history/${team}/import`, selection);
      return [status, typeof json.detail === 'string' ? json.detail : 'faults'] as const;
    };
    expect(await asked({}, 'T0OTHER')).to.deep.equal([
      400,
      'Only who connected the Slack team may import its history.',
    ]);
    const [status, detail] = await asked({});
    expect(status).to.equal(400);
    expect(detail).to.contain('/invite');
    expect((await asked({ dataset_id: crypto.randomUUID() }))[0]).to.equal(403);
    expect((await asked({ verbose: true }))[0]).to.equal(400);
    expect((await asked({ days: null }))[0]).to.equal(400);
    expect((await asked({ thread_links: ['https://evil.test/x'] }))[0]).to.equal(400);
    slack.state.pageSize = 1;
    expect((await asked({ channel_ids: ['C0LAMP'], max_requests: 2 }))[1]).to.contain('max_requests');
    expect(await put(wire, '/slack/channels', { channelIds: ['C0LAMP', 'C0LAMP'] })).to.deep.equal({
      status: 200,
      json: { allowedChannelIds: ['C0LAMP'] },
    });
    expect(await asked({})).to.deep.equal([400, 'The app is not allowed in C0ENGINE.']);
    const endless = {
      enabled: true,
      selection: { dataset_id: dataset, channel_ids: ['C0LAMP'], days: 1, latest: '2026-01-01T00:00:00Z' },
    };
    expect((await put(wire, '/slack/history/T0ENGINE/sync', endless)).status).to.equal(400);
  });

  it('answers questions, shares an answer once, and remembers what it is told', async () => {
    await connect(app, slack);
    await wire.upload('notes', { name: 'mill.md', content: 'Nora Lind built the Harbour Mill in Bergen in 1911.' });
    await wire.post('/cognify', { datasets: ['notes'] });
    const { id, response } = await slack.command(app.baseUrl, '/cognee-ask Who built the Harbour Mill?');
    expect([response.status, await response.json()]).to.deep.equal([
      200,
      { response_type: 'ephemeral', text: 'Looking in memory …' },
    ]);
    const answer = await answered(id);
    expect(answer).to.include({ response_type: 'ephemeral', replace_original: true });
    expect(JSON.stringify(answer)).to.contain('Nora Lind').and.contain('cognee_ask_share');
    const buttons = (answer['blocks'] as { type: string; elements: { action_id: string; value: string }[] }[]).at(
      -1,
    )?.elements;
    const press = (value: string, user = INSTALLER) =>
      slack.interact(app.baseUrl, {
        type: 'block_actions',
        user: { id: user },
        actions: [{ action_id: 'cognee_ask_share', value }],
      });
    const stranger = await press(buttons?.[0]?.value ?? '', 'U0TOM');
    expect(JSON.stringify(await answered(stranger.id))).to.contain('not kept');
    const shared = await press(buttons?.[0]?.value ?? '');
    expect(await shared.response.json()).to.deep.equal({});
    await until('the shared answer', () =>
      slack.responses.some((one) => one.id === shared.id && 'delete_original' in one.message),
    );
    const inChannel = slack.responses.find((one) => one.id === shared.id)?.message;
    expect(inChannel).to.include({ response_type: 'in_channel' });
    const again = await press(buttons?.[0]?.value ?? '');
    expect(JSON.stringify(await answered(again.id))).to.contain('not kept');
    const told = await slack.command(app.baseUrl, '/engram-remember The lamp of the mill is green.');
    expect(JSON.stringify(await answered(told.id))).to.contain('Remembered.');
    const datasets = (await wire.get('/datasets')).json as { id: string; name: string }[];
    const dataset = datasets.find(({ name }) => name === 'slack')?.id ?? '';
    expect([...(await textsOf(wire, dataset)).values()]).to.deep.equal(['The lamp of the mill is green.']);
    const nothing = await slack.command(app.baseUrl, '/cognee-ask What is the capital of Peru?');
    expect(JSON.stringify(await answered(nothing.id))).to.contain('Memory does not answer this question.');
    const unknown = await slack.command(app.baseUrl, '/cognee-dance');
    expect(((await unknown.response.json()) as { text: string }).text).to.contain('not yet supported');
  });

  it('lets members use their own memory once they have linked it, and nobody else', async () => {
    await connect(app, slack);
    const by = { user_id: 'U0TOM' };
    const refused = await slack.command(app.baseUrl, '/cognee-ask Who?', by);
    expect(((await refused.response.json()) as { text: string }).text).to.contain('/cognee-link');
    const { response } = await slack.command(app.baseUrl, '/cognee-link', by);
    const { text } = (await response.json()) as { text: string };
    const code = new URL(/http:\S+/.exec(text)?.[0] ?? '').searchParams.get('code') ?? '';
    expect((await wire.post('/slack/link', { code: `${code}0` })).status).to.equal(400);
    expect((await wire.post('/slack/link', { code })).json).to.deep.equal({ linked: true });
    expect((await wire.post('/slack/link', { code })).json).to.deep.equal({ linked: true });
    const told = await slack.command(app.baseUrl, '/cognee-remember The gear is blue.', by);
    expect(JSON.stringify(await answered(told.id))).to.contain('Remembered.');
    await put(wire, '/slack/channels', { channelIds: ['C0LAMP'] });
    const outside = await slack.command(app.baseUrl, '/cognee-ask Who?', by);
    expect(((await outside.response.json()) as { text: string }).text).to.contain('may not be used in this channel');
  });

  it('opens the dialog of an import, checks it, and reports how the import went', async () => {
    const engine = slack.add('engine');
    const { first } = talk(slack, engine);
    await connect(app, slack);
    await makeDataset(wire, 'team');
    const { id, response } = await slack.command(app.baseUrl, '/cognee-import 3000');
    expect(((await response.json()) as { text: string }).text).to.contain('dialog');
    const { view } = slack.views[0] ?? { view: {} };
    expect(view).to.include({ type: 'modal', callback_id: 'cognee_history_import' });
    expect(JSON.stringify(view)).to.contain('"team"').and.contain('"3000"');
    const submit = (days: string) => {
      const channels = { value: { selected_conversations: ['C0ENGINE'] } };
      const values = {
        channels,
        days: { value: { value: days } },
        dataset: { value: { selected_option: { value: 'slack' } } },
      };
      return slack.interact(app.baseUrl, { type: 'view_submission', view: { ...view, state: { values } } });
    };
    expect(await (await submit('many')).response.json()).to.deep.equal({
      response_action: 'errors',
      errors: { days: 'A number from 1 to 3650.' },
    });
    expect(await (await submit('3000')).response.json()).to.deep.equal({});
    expect(JSON.stringify(await answered(id))).to.contain('Imported into slack: 3 messages read, 3 documents new');
    const other = await slack.command(app.baseUrl, '/cognee-import', { user_id: 'U0TOM' });
    expect(((await other.response.json()) as { text: string }).text).to.contain('Only who installed');
    const message = {
      ts: tsAt('2026-01-05T10:44:00Z'),
      thread_ts: first,
      user: 'U0TOM',
      text: 'The valve is <@U0ADA>’s.',
    };
    const channel = { id: 'C0ENGINE', name: 'engine' };
    const kept = await slack.interact(app.baseUrl, {
      type: 'message_action',
      callback_id: 'remember_this',
      channel,
      message,
    });
    expect(JSON.stringify(await answered(kept.id))).to.contain('Remembered.');
    const datasets = (await wire.get('/datasets')).json as { id: string; name: string }[];
    const texts = await textsOf(wire, datasets.find(({ name }) => name === 'slack')?.id ?? '');
    expect([...texts.values()].join('\n'))
      .to.contain('[2026-01-05 10:44] Tom Okoye: The valve is')
      .and.contain('#engine');
    const thread = await slack.interact(app.baseUrl, {
      type: 'message_action',
      callback_id: 'remember_thread',
      channel,
      message,
    });
    await until('the report', () =>
      slack.responses.some((one) => one.id === thread.id && JSON.stringify(one.message).includes('0 documents new')),
    );
  });

  it('refuses what Slack did not sign, answers its check, and ends when the app is removed', async () => {
    await connect(app, slack);
    const send = (options: object) => slack.event(app.baseUrl, { event: { type: 'message' } }, 'E0', options);
    for (const options of [{ secret: 'guessed' }, { ageSeconds: 301 }, { ageSeconds: -301 }]) {
      const response = await send(options);
      expect([response.status, await response.json()]).to.deep.equal([401, { detail: 'Invalid Slack signature' }]);
    }
    expect((await send({ ageSeconds: 200 })).status).to.equal(200);
    for (const path of ['/slack/events', '/integrations/slack/events']) {
      const check = await slack.event(app.baseUrl, { type: 'url_verification', challenge: 'abc' }, 'E1', {}, path);
      expect(await check.json()).to.deep.equal({ challenge: 'abc' });
    }
    for (let time = 0; time < 2; time += 1) {
      await slack.event(app.baseUrl, { event: { type: 'app_home_opened', user: INSTALLER } }, 'E2');
    }
    await until('the Home view', () => slack.views.length > 0);
    await slack.event(app.baseUrl, { event: { type: 'tokens_revoked', tokens: { oauth: ['U0TOM'], bot: [] } } }, 'E3');
    expect((await wire.get('/integrations/slack/connection')).json.connected, 'a token of a person').to.equal(true);
    await slack.event(app.baseUrl, { event: { type: 'app_uninstalled' } }, 'E4');
    expect((await wire.get('/integrations/slack/connection')).json).to.deep.equal({
      connected: false,
      error: 'The Slack app was uninstalled or its access was revoked. Install it again to go on.',
    });
    expect(slack.views, 'a delivery that is repeated is worked on once').to.have.length(1);
    const late = await slack.command(app.baseUrl, '/cognee-ask Who?');
    expect(((await late.response.json()) as { text: string }).text).to.contain('not connected');
  });

  it('rotates its tokens, and a standing import goes on when the app is installed again', async () => {
    talk(slack, slack.add('engine'));
    slack.state.tokenLifeSeconds = 60;
    await connect(app, slack);
    const dataset = await makeDataset(wire, 'team');
    const selection = { dataset_id: dataset, channel_ids: ['C0ENGINE'], days: 3650 };
    await put(wire, '/slack/history/T0ENGINE/sync', { enabled: true, selection });
    const report = async () => (await wire.get('/slack/history/T0ENGINE')).json.reports?.[dataset];
    const before = await until('the import', async () => (await report())?.status === 'completed' && report());
    expect(slack.requests.filter((one) => one === 'oauth.v2.access').length).to.be.greaterThan(1);
    slack.state.isGone = true;
    await wire.post('/integrations/slack/sync');
    await until('the end', async () => (await wire.get('/integrations/slack/connection')).json.connected === false);
    slack.state.isGone = false;
    await connect(app, slack);
    const after = await until('the import that goes on', async () => {
      const now = await report();
      return now?.status === 'completed' && now.finished_at !== before.finished_at && now;
    });
    expect(after.result).to.include({ unchanged: 3 });
  });

  it('is limited to channels, brought in and followed from the command line', async () => {
    talk(slack, slack.add('engine'));
    slack.add('lamp');
    await connect(app, slack);
    const run = (line: string) => commandLine(app.baseUrl, line);
    expect(await run('history slack')).to.equal('0 none\n');
    expect(await run('channels slack #engine')).to.equal('0 the app may be used in #engine alone\n');
    expect(await run('channels slack')).to.match(/engine\s+true\n.*lamp\s+false/);
    expect(await run('history slack --dataset talk --channel lamp')).to.contain(
      '(400): The app is not allowed in C0LAMP.',
    );
    expect(await run('channels slack --all')).to.equal('0 the app may be used in every channel\n');
    expect(await run('channels slack oil'))
      .to.contain("2 engram: There is no channel 'oil'")
      .and.contain('engine, lamp');
    expect(await run('history slack --dataset talk --channel engine --days 0')).to.contain(
      '2 engram: --days is a whole number',
    );
    expect(await run('history slack --dataset talk --channel engine --days 3650')).to.equal(
      '0 3 messages in 2 threads; talk: 3 added, 0 updated, 0 deleted\n',
    );
    expect(await run('sync slack')).to.contain('no channel is followed');
    expect(await run('history slack --dataset talk --stop')).to.contain('2 engram: Nothing is followed into talk');
    const follow = 'history slack --dataset talk --channel engine --channel lamp --days 3650 --every 12';
    expect(await run(follow)).to.contain('0 followed into talk');
    await until('the standing import', async () =>
      /talk\s+engine, lamp\s+12 h\s+completed\s+\S+\s+3\s+0\s+0\s+0/.test(await run('history slack')),
    );
    expect(await run('history slack --dataset talk --stop')).to.contain('0 no longer followed');
    expect(await run('history slack')).to.match(/talk\s+completed/);
    expect(await run('disconnect slack --yes')).to.equal('0 disconnected\n');
  });
});
