import { expect } from 'chai';
import { signUp } from '../../support/accounts.ts';
import { startFakeGoogle } from '../../support/fake-google.ts';
import { DRIVE_FOLDER, MY_DRIVE } from '../../support/fake-google-drive.ts';
import { commandLine } from '../../support/source-steps.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

type Google = Awaited<ReturnType<typeof startFakeGoogle>>;

const DOCUMENT = 'application/vnd.google-apps.document';

describe('Google', () => {
  let google: Google;
  let app: StartedApp;
  let wire: Wire;
  beforeEach(async () => {
    google = await startFakeGoogle();
    google.state.page = 10;
    app = await startApp(google.variables);
    wire = createWire(app.baseUrl);
  });
  afterEach(async () => {
    await app.stop();
    await google[Symbol.asyncDispose]();
  });

  /** Connects as a browser does, and returns the outcome of the callback. */
  const connect = async (provider: string, scope?: string) => {
    const begun = await fetch(`${app.baseUrl}/api/v1/integrations/${provider}/authorize`, { method: 'POST' });
    const { authorizeUrl } = (await begun.json()) as { authorizeUrl: string };
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    const query = google.consent(authorizeUrl, scope);
    const back = await fetch(`${app.baseUrl}/api/v1/integrations/${provider}/callback?${query}`, {
      redirect: 'manual',
      headers: { cookie },
    });
    return { authorizeUrl: new URL(authorizeUrl), location: back.headers.get('location') };
  };
  const connectionOf = async (provider: string): Promise<Record<string, unknown>> =>
    (await wire.get(`/integrations/${provider}/connection`)).json;
  const choose = async (provider: string, resourceIds: readonly string[] | null) => {
    const response = await fetch(`${app.baseUrl}/api/v1/integrations/${provider}/resources`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceIds }),
    });
    return { status: response.status, json: await response.json() };
  };
  /** Starts an import, and returns the connection at its end. */
  const sync = async (provider: string) => {
    const before = (await connectionOf(provider))['lastSyncedAt'];
    await wire.post(`/integrations/${provider}/sync`);
    let found: Record<string, unknown> = {};
    await until('the end of the import', async () => {
      found = await connectionOf(provider);
      return found['connected'] === false || (found['syncStatus'] !== 'syncing' && found['lastSyncedAt'] !== before);
    });
    return found;
  };
  const itemsOf = async (provider: string): Promise<readonly { id: string; name: string }[]> => {
    const { datasetId } = await connectionOf(provider);
    return (await wire.get(`/datasets/${datasetId}/data`)).json;
  };
  const namesOf = async (provider: string) => (await itemsOf(provider)).map(({ name }) => name).toSorted();
  const textOf = async (provider: string, name: string): Promise<string> => {
    const { datasetId } = await connectionOf(provider);
    const item = (await itemsOf(provider)).find((one) => one.name === name);
    return (await wire.get(`/datasets/${datasetId}/data/${item?.id}/original`)).text;
  };
  const finds = async (provider: string, query: string, text: string) => {
    const { datasetName } = await connectionOf(provider);
    await until(`a search finds ${text}`, async () => {
      const body = { query, search_type: 'CHUNKS', datasets: [datasetName] };
      return JSON.stringify((await wire.post('/search', body)).json).includes(text);
    });
  };

  it('is connected with a consent that lasts, a code verifier and one read-only scope, and reads nothing unasked', async () => {
    const { authorizeUrl, location } = await connect('google_drive');
    expect(authorizeUrl.pathname).to.equal('/o/oauth2/v2/auth');
    expect(Object.fromEntries(authorizeUrl.searchParams)).to.include({
      response_type: 'code',
      access_type: 'offline',
      prompt: 'consent',
      code_challenge_method: 'S256',
      scope: 'openid email https://www.googleapis.com/auth/drive.readonly',
      redirect_uri: 'http://console.test/api/v1/integrations/google_drive/callback',
    });
    expect(location).to.equal('http://console.test/integrations?google_drive=connected');
    expect(await connectionOf('google_drive')).to.deep.include({
      connected: true,
      accountLabel: 'ada@acme.test',
      providerAccountId: '1122334455',
      selected: [],
      datasetName: 'google_drive_ada_acme_test_9260f889a0',
      storedItems: 0,
      syncStatus: null,
    });
    expect(google.requests.some((line) => line.includes('/drive/v3/'))).to.equal(false);
    const refused = await connect('gmail', 'openid email');
    expect(refused.location).to.match(/gmail=error_exchange_failed$/);
  });

  it('is connected in the browser that the command line points to, and chosen by name', async () => {
    const run = (...words: readonly string[]) => commandLine(app.baseUrl, words.join(' '));
    expect(await run('connect', 'gmail')).to.equal(`0 ${app.baseUrl}/integrations?connect=gmail\n`);
    google.drive.folder('Plans');
    await connect('google_drive');
    expect(await run('list')).to.match(
      /google_drive\s+ada@acme\.test\s+google_drive_ada_acme_test_\w+\s+0\s+nothing chosen yet/,
    );
    expect(await run('resources', 'google_drive')).to.match(/root\s+My Drive\s+false\n.*Plans\s+false/);
    expect(await run('choose', 'google_drive', 'Plans')).to.match(/^0 being brought in: Plans\./);
    await until('the import', async () => (await run('list')).includes(' ok'));
  });

  it('Drive brings in what is below the chosen folders: documents exported, files as they are, the rest counted', async () => {
    const { drive } = google;
    const plans = drive.folder('Plans');
    const inner = drive.folder('2026', plans);
    const team = drive.sharedDrive('Team');
    drive.add({
      name: 'Roadmap',
      mimeType: DOCUMENT,
      parent: plans,
      content: '# Roadmap\n\nThe mill is built in May.',
    });
    drive.add({ name: 'Budget.csv', mimeType: 'text/csv', parent: inner, content: 'part,cost\ngear,12\n' });
    drive.add({ name: 'Form', mimeType: 'application/vnd.google-apps.form', parent: inner });
    drive.add({ name: 'Big.txt', mimeType: 'text/plain', parent: inner, content: 'x'.repeat(26 * 1024 * 1024) });
    drive.add({ name: 'Elsewhere.md', content: 'no' });
    drive.add({ name: 'Charter.md', parent: team, content: 'The team is led by Grace Hopper.' });
    for (let number = 1; number <= 15; number += 1)
      drive.add({ name: `Note ${number}.md`, parent: inner, content: `Note ${number}.` });
    await connect('google_drive');
    const { json } = await wire.get('/integrations/google_drive/folders');
    expect(json).to.deep.equal({
      resources: [
        { id: 'root', name: 'My Drive', description: null, attributes: { root: true }, selected: false },
        {
          id: team,
          name: 'Team',
          description: 'Shared drive',
          selected: false,
          attributes: { drive_id: team, shared_drive: true },
        },
        {
          id: plans,
          name: 'Plans',
          description: 'My Drive',
          selected: false,
          attributes: { mime_type: DRIVE_FOLDER },
        },
        {
          id: inner,
          name: '2026',
          description: 'My Drive / Plans',
          selected: false,
          attributes: { mime_type: DRIVE_FOLDER },
        },
      ],
      selected: [],
    });
    expect((await choose('google_drive', [plans, team])).json).to.deep.equal({ selected: [plans, team] });
    const state = await sync('google_drive');
    expect(state).to.deep.include({ syncStatus: 'ok', storedItems: 18 });
    expect(state['syncCounts']).to.deep.equal({ scanned: 20, skipped: 2, failed: 0 });
    const names = await namesOf('google_drive');
    expect(names).to.include.members(['Roadmap', 'Budget', 'Charter', 'Note 15']);
    expect(names.join()).not.to.match(/Elsewhere|Form|Big/);
    expect(await textOf('google_drive', 'Roadmap')).to.contain('The mill is built in May.');
    await finds('google_drive', 'Who leads the team?', 'Grace Hopper');
    await choose('google_drive', null);
    expect(await sync('google_drive')).to.deep.include({ syncStatus: 'ok', storedItems: 19 });
    expect(await namesOf('google_drive')).to.include('Elsewhere');
  });

  it('Drive follows changes, names, moves, folders and the trash, and lists again when its token is too old', async () => {
    const { drive } = google;
    const plans = drive.folder('Plans');
    const inner = drive.folder('2026', plans);
    const mill = drive.add({ name: 'Mill.md', parent: plans, content: 'The mill has four gears.' });
    const lamp = drive.add({ name: 'Lamp.md', parent: plans, content: 'The lamp flickers.' });
    const gear = drive.add({ name: 'Gear.md', parent: inner, content: 'The gear is worn.' });
    const steam = drive.add({ name: 'Steam.md', content: 'Steam escapes.' });
    await connect('google_drive');
    await choose('google_drive', [plans]);
    await sync('google_drive');
    expect(await namesOf('google_drive')).to.deep.equal(['Gear', 'Lamp', 'Mill']);
    const before = (await itemsOf('google_drive')).find(({ name }) => name === 'Mill')?.id;
    const asked = google.requests.length;
    drive.change(mill, { name: 'Engine.md', content: 'The engine has five gears.' });
    drive.change(steam, { parent: plans });
    drive.change(lamp, { trashed: true });
    await sync('google_drive');
    expect(
      google.requests.slice(asked).filter((line) => /md5Checksum.*in%20parents|in%20parents.*md5Checksum/.test(line)),
      'nothing is listed',
    ).to.be.empty;
    expect(await namesOf('google_drive')).to.deep.equal(['Engine', 'Gear', 'Steam']);
    expect((await itemsOf('google_drive')).find(({ name }) => name === 'Engine')?.id).to.equal(before);
    expect(await textOf('google_drive', 'Engine')).to.equal('The engine has five gears.');
    // The files of a folder that moves have no change of their own.
    drive.change(inner, { parent: MY_DRIVE });
    drive.change(steam, { parent: MY_DRIVE });
    await sync('google_drive');
    expect(await namesOf('google_drive')).to.deep.equal(['Engine']);
    drive.change(inner, { parent: plans });
    await sync('google_drive');
    expect(await namesOf('google_drive')).to.deep.equal(['Engine', 'Gear']);
    drive.remove(mill);
    drive.change(gear, { content: 'The gear is new.' });
    drive.options.firstToken = 1000;
    await sync('google_drive').then(({ syncStatus }) => expect(syncStatus).to.equal('ok'));
    expect(await namesOf('google_drive')).to.deep.equal(['Gear']);
    expect(await textOf('google_drive', 'Gear')).to.equal('The gear is new.');
  });

  it('Drive shows a document to those who find it in Drive, and to nobody else who may read the dataset', async () => {
    const { drive } = google;
    const everybody = [{ type: 'anyone', allowFileDiscovery: true }] as const;
    drive.add({ name: 'Handbook.md', content: 'The lamp is lit at dusk by Alan Turing.', permissions: everybody });
    const plan = drive.add({ name: 'Plan.md', content: 'The lamp is sold to Zanzifar in May.' });
    await connect('google_drive');
    await choose('google_drive', ['root']);
    const { datasetId } = await sync('google_drive');
    const bob = await signUp(app.baseUrl, 'bob');
    expect((await wire.post(`/permissions/datasets/${bob.id}?permission_name=read`, [datasetId])).status).to.equal(200);
    const namesOfBob = async () =>
      ((await bob.wire.get(`/datasets/${datasetId}/data`)).json as { name: string }[]).map(({ name }) => name);
    await finds('google_drive', 'Who buys the lamp?', 'Zanzifar');
    expect(await namesOfBob()).to.deep.equal(['Handbook']);
    const body = { query: 'Who buys the lamp?', search_type: 'CHUNKS', dataset_ids: [datasetId] };
    expect((await bob.wire.post('/search', body)).text)
      .to.contain('Turing')
      .and.not.contain('Zanzifar');
    drive.change(plan, { permissions: everybody });
    await sync('google_drive');
    expect((await namesOfBob()).toSorted()).to.deep.equal(['Handbook', 'Plan']);
  });

  it('Gmail brings in the messages of a label as they were sent, and follows its history', async () => {
    const { mail } = google;
    const work = mail.label('Work');
    const raw = (subject: string, text: string) =>
      `From: Charles Babbage <charles@mill.test>\r\nTo: ada@acme.test\r\nDate: Mon, 5 Jan 2026 09:00:00 +0000\r\nSubject: ${subject}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`;
    const gears = mail.add(
      raw('=?utf-8?Q?Gears_f=C3=BCr_the_mill?=', 'The fourth gear of the mill is worn.'),
      'INBOX',
      work,
    );
    for (let number = 1; number <= 25; number += 1)
      mail.add(raw(`Report ${number}`, `Report ${number} is here.`), work);
    const lunch = mail.add(raw('Lunch', 'Shall we eat?'), 'INBOX');
    mail.add(raw('Unfinished', 'Dear'), 'DRAFT', work);
    await connect('gmail');
    const { json } = await wire.get('/integrations/gmail/labels');
    const label = (json.resources as { id: string }[]).find(({ id }) => id === work);
    expect(label).to.deep.equal({
      id: work,
      name: 'Work',
      description: null,
      selected: false,
      attributes: { type: 'user', messages_total: 27 },
    });
    await choose('gmail', [work]);
    expect(await sync('gmail')).to.deep.include({ syncStatus: 'ok', storedItems: 26 });
    const name = 'Gears für the mill (2026-01-05)';
    expect(await textOf('gmail', name)).to.contain('From: Charles Babbage <charles@mill.test>');
    await finds('gmail', 'Which gear is worn?', 'fourth gear of the mill is worn');
    mail.change(gears, { add: ['TRASH'], remove: ['INBOX'] });
    mail.change(lunch, { add: [work] });
    const boiler = mail.add(raw('Boiler', 'The boiler is hot.'), 'INBOX', work);
    mail.add(raw('Private', 'Not of work.'), 'INBOX');
    expect(await sync('gmail')).to.deep.include({ syncStatus: 'ok', storedItems: 27 });
    const names = await namesOf('gmail');
    expect(names).to.include.members(['Lunch (2026-01-05)', 'Boiler (2026-01-05)']).and.not.include(name);
    expect(names.join()).not.to.match(/Private|Unfinished/);
    mail.change(gears, { remove: ['TRASH'] });
    mail.change(lunch, { remove: [work] });
    mail.remove(boiler);
    mail.options.firstHistory = 10_000;
    expect(await sync('gmail')).to.deep.include({ syncStatus: 'ok', storedItems: 26 });
    expect(await namesOf('gmail'))
      .to.include(name)
      .and.not.include('Lunch (2026-01-05)');
    await choose('gmail', null);
    expect(await sync('gmail')).to.deep.include({ syncStatus: 'ok', storedItems: 28 });
  });

  it('Calendar brings in chosen calendars, a series as one item, and forgets what is cancelled', async () => {
    const { calendar } = google;
    calendar.calendar('ada@acme.test', 'Ada');
    calendar.calendar('busy@acme.test', 'Charles', 'freeBusyReader');
    const at = (day: string, hour: number) => ({
      start: { dateTime: `${day}T${hour}:00:00Z`, timeZone: 'Europe/London' },
      end: { dateTime: `${day}T${hour + 1}:00:00Z`, timeZone: 'Europe/London' },
    });
    const attendees = [{ email: 'grace@acme.test', displayName: 'Grace Hopper', responseStatus: 'accepted' }];
    const review = { id: 'review', summary: 'Mill review', location: 'Room 7, north wing', attendees };
    calendar.put('ada@acme.test', {
      ...review,
      ...at('2026-03-05', 10),
      description: 'Bring <b>gears</b> &amp; oil.<br>Not the lamp.',
    });
    const series = { id: 'stand', summary: 'Stand-up', recurrence: ['RRULE:FREQ=DAILY;COUNT=5'] };
    calendar.put('ada@acme.test', { ...series, ...at('2026-03-02', 11) });
    const second = { id: 'stand_2', recurringEventId: 'stand', originalStartTime: at('2026-03-03', 11).start };
    calendar.put('ada@acme.test', { ...second, summary: 'Stand-up in the yard', ...at('2026-03-03', 12) });
    for (let number = 1; number <= 15; number += 1)
      calendar.put('ada@acme.test', {
        id: `e${number}`,
        summary: `Event ${number}`,
        start: { date: '2026-04-01' },
        end: { date: '2026-04-02' },
      });
    await connect('google_calendar');
    expect((await wire.get('/integrations/google_calendar/resources')).json).to.deep.equal({
      resources: [
        {
          id: 'ada@acme.test',
          name: 'Ada',
          description: null,
          selected: false,
          attributes: { primary: true, access_role: 'owner' },
        },
      ],
      selected: [],
    });
    expect((await choose('google_calendar', null)).status).to.equal(422);
    await choose('google_calendar', ['ada@acme.test']);
    expect(await sync('google_calendar')).to.deep.include({ syncStatus: 'ok', storedItems: 17 });
    const text = await textOf('google_calendar', 'Mill review (2026-03-05)');
    expect(text.replaceAll('\r\n ', '')).to.contain(
      'DTSTART:20260305T100000\r\nDTEND:20260305T110000\r\nLOCATION:Room 7\\, north wing\r\n' +
        'ATTENDEE;PARTSTAT=ACCEPTED;CN="Grace Hopper":mailto:grace@acme.test\r\n' +
        'DESCRIPTION:Bring gears & oil.\\nNot the lamp.\r\n',
    );
    await finds('google_calendar', 'Where is the mill review?', 'Room 7, north wing');
    calendar.put('ada@acme.test', { id: 'review', status: 'cancelled' });
    calendar.put('ada@acme.test', {
      ...second,
      id: 'stand_3',
      originalStartTime: at('2026-03-04', 11).start,
      status: 'cancelled',
    });
    expect(await sync('google_calendar')).to.deep.include({ syncStatus: 'ok', storedItems: 16 });
    expect(await namesOf('google_calendar')).not.to.include('Mill review (2026-03-05)');
    expect(await textOf('google_calendar', 'Stand-up (2026-03-02)'))
      .to.contain('RRULE:FREQ=DAILY;COUNT=5\r\nEXDATE;TZID=Europe/London:20260304T110000')
      .and.contain('RECURRENCE-ID;TZID=Europe/London:20260303T110000\r\nSUMMARY:Stand-up in the yard');
    calendar.put('ada@acme.test', { id: 'stand', status: 'cancelled' });
    calendar.options.firstToken = 10_000;
    expect(await sync('google_calendar')).to.deep.include({ syncStatus: 'ok', storedItems: 15 });
  });

  it('is waited for as long as it asks, and a token that it rejects is exchanged once', async () => {
    for (let number = 1; number <= 20; number += 1)
      google.drive.add({ name: `Note ${number}.md`, content: `Note ${number}.` });
    await connect('google_drive');
    google.endAccess();
    await choose('google_drive', ['root']);
    google.state.remaining = 25;
    await wire.post('/integrations/google_drive/sync');
    await until('the wait', async () => (await connectionOf('google_drive'))['waitingUntil'] !== undefined);
    google.state.remaining = null;
    await until('the end', async () => (await connectionOf('google_drive'))['storedItems'] === 20);
    expect(google.requests.filter((line) => line === 'POST /token')).to.have.length(2);
  });

  it('that takes the access back ends the connection and says so, and a disconnect takes it back at Google', async () => {
    google.drive.add({ name: 'Note.md', content: 'Note.' });
    await connect('google_drive');
    await choose('google_drive', ['root']);
    await sync('google_drive');
    google.takeBack();
    expect(await sync('google_drive')).to.deep.equal({
      connected: false,
      error: 'The provider no longer accepts the connection. Connect it again.',
    });
    await connect('google_drive');
    expect(await sync('google_drive'), 'the selection stays').to.deep.include({ selected: ['root'], storedItems: 1 });
    expect(google.grants()).to.equal(1);
    const ended = await fetch(`${app.baseUrl}/api/v1/integrations/google_drive/connection?delete_data=true`, {
      method: 'DELETE',
    });
    expect(await ended.json()).to.deep.equal({ disconnected: true });
    expect(google.grants()).to.equal(0);
  });
});
