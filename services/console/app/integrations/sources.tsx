import { Anchor, Button, Card, Group, Progress, Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { ago, count, plural, when } from '../format.ts';
import { afterRun } from '../queries.ts';
import { Section } from '../shell.tsx';
import { attempt, complain, Empty, Failed, say, Waiting } from '../states.tsx';
import { StateBadge } from '../table.tsx';
import { ChoiceDialog, type Chosen } from './choice.tsx';
import { Connect, TITLES, titleOf } from './connect.tsx';
import { isTeam, SlackImport, SlackTeam } from './slack.tsx';

type Connection = Answer<'/api/v1/integrations/connections', 'get'>['connections'][number];

const OUTCOMES: Readonly<Record<string, string>> = {
  cancelled: 'It was not connected: you cancelled it.',
  error_invalid_state: 'It took longer than ten minutes, or another browser began it. Connect it again.',
  error_already_connected:
    'Another user of this server has connected that account. It has to be disconnected there first.',
  error_exchange_failed: 'The provider did not confirm the account. Connect it again.',
};

/** Whether nothing is brought in by a connection itself. */
const isAccount = (connection: Connection): boolean => isTeam(connection) || connection.provider === 'slack_member';

/** Sources that memory follows. */
export function Sources() {
  const client = useQueryClient();
  const status = useQuery({ queryKey: ['integrations'], queryFn: () => engram.get('/api/v1/integrations/status') });
  const connections = useQuery({
    queryKey: ['connections'],
    queryFn: () => engram.get('/api/v1/integrations/connections'),
    refetchInterval: ({ state }) =>
      state.data?.connections.some(({ syncStatus }) => syncStatus === 'syncing') ? 1000 : 10_000,
  });
  useReturn();
  if (connections.isPending || status.isPending) return <Waiting />;
  if (connections.isError) return <Failed error={connections.error} onRetry={() => void connections.refetch()} />;
  if (status.isError) return <Failed error={status.error} onRetry={() => void status.refetch()} />;
  const refresh = () => {
    for (const key of ['connections', 'slack-history', 'permitted']) void client.invalidateQueries({ queryKey: [key] });
    afterRun(client);
  };
  const all = withSums(connections.data.connections);
  return (
    <Section title="Sources" about="Memory follows a source: what is new, changed or deleted there is so here.">
      <Connect providers={status.data.integrations} onConnected={refresh} />
      {all.length === 0 ? (
        <Empty title="Nothing is connected yet">Connect a source, and choose what is brought in.</Empty>
      ) : (
        <Stack gap="sm">
          {all.map((connection) => (
            <Source key={connection.connectionId} connection={connection} onChanged={refresh} />
          ))}
        </Stack>
      )}
    </Section>
  );
}

/** Connections with the imports that use their account behind them, and the documents of those counted in. */
function withSums(connections: readonly Connection[]): readonly Connection[] {
  const placeOf = ({ connectionId, partOf = connectionId }: Connection) =>
    connections.findIndex((one) => one.connectionId === partOf);
  return connections
    .map((one) => {
      const parts = connections.filter(({ partOf }) => partOf === one.connectionId);
      return { ...one, storedItems: [one, ...parts].reduce((sum, { storedItems = 0 }) => sum + storedItems, 0) };
    })
    .toSorted((a, b) => placeOf(a) - placeOf(b) || Number(a.partOf !== undefined) - Number(b.partOf !== undefined));
}

/** Says how the visit at a provider ended, once. */
function useReturn(): void {
  useEffect(() => {
    const url = new URL(window.location.href);
    for (const provider of Object.keys(TITLES)) {
      const outcome = url.searchParams.get(provider);
      if (outcome === null) continue;
      url.searchParams.delete(provider);
      window.history.replaceState(window.history.state, '', url);
      if (outcome === 'connected') say(`${titleOf(provider)} is connected.`);
      else complain(new Error(OUTCOMES[outcome] ?? 'It was not connected.'));
    }
  }, []);
}

function Source({ connection, onChanged }: { readonly connection: Connection; onChanged(): void }) {
  const { connected, provider = '', connectionId = '', accountLabel = '', datasetName, datasetId } = connection;
  const { storedItems = 0, lastSyncedAt, syncCounts, error, accessNote, selected, leftOut, declaredAs } = connection;
  // What a resource declares is changed by it alone.
  const selectable = connection.selectable && declaredAs === undefined;
  const isNothing = selectable && selected?.length === 0;
  const isImport = provider === 'slack' && connection.partOf !== undefined;
  const [isChoosing, setChoosing] = useState(false);
  const target = { path: { provider }, query: { connectionId } };
  const sync = async () => {
    await attempt(() => engram.post('/api/v1/integrations/{provider}/sync', target), 'The sync has started.');
    onChanged();
  };
  return (
    <Card
      withBorder
      padding="sm"
      component="article"
      aria-label={`${titleOf(provider)} ${accountLabel}${isImport ? ` in ${datasetName}` : ''}`}
    >
      <Group justify="space-between" align="flex-start">
        <div style={{ minWidth: 0, flex: '1 1 220px' }}>
          <Group gap="xs">
            <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
              {accountLabel}
            </Text>
            <State connection={connection} />
          </Group>
          <Text size="sm" c="dimmed">
            {titleOf(provider)}
            {isAccount(connection) ? '' : ` · ${plural(storedItems, 'document')} in `}
            {isAccount(connection) ? null : datasetId === undefined ? (
              datasetName
            ) : (
              <Anchor component={Link} to={`/datasets/${datasetId}`} size="sm" underline="always">
                {datasetName}
              </Anchor>
            )}
            {lastSyncedAt ? ` · synced ${ago(lastSyncedAt)}` : ''}
            {selected?.length ? ` · ${count(selected.length)} chosen` : ''}
            {leftOut === undefined ? '' : ` · without ${leftOut.join(', ')}`}
            {syncCounts && syncCounts.skipped > 0
              ? ` · ${plural(syncCounts.skipped, 'file')} of other kinds left out`
              : ''}
          </Text>
          {declaredAs === undefined ? null : (
            <Text size="sm" c="dimmed">
              Declared as “{declaredAs}” in spec.sources of a Dataset resource of Kubernetes: it is changed there.
            </Text>
          )}
        </div>
        {connected ? (
          <Group gap="xs">
            {isTeam(connection) ? <SlackTeam connection={connection} onChanged={onChanged} /> : null}
            {selectable ? (
              <Button size="xs" variant={isNothing ? 'filled' : 'default'} onClick={() => setChoosing(true)}>
                Choose
              </Button>
            ) : null}
            {isAccount(connection) || isImport ? null : (
              <Button
                size="xs"
                variant="default"
                onClick={() => void sync()}
                disabled={isNothing || connection.syncStatus === 'syncing'}
              >
                Sync now
              </Button>
            )}
            {declaredAs === undefined ? (
              <Button size="xs" variant="default" onClick={() => askDisconnect(connection, onChanged)}>
                Disconnect
              </Button>
            ) : null}
          </Group>
        ) : declaredAs === undefined ? (
          <Button size="xs" variant="default" onClick={() => askDisconnect(connection, onChanged)}>
            Remove
          </Button>
        ) : null}
      </Group>
      <Going connection={connection} />
      {isImport && connected ? <SlackImport connection={connection} onChanged={onChanged} /> : null}
      {error === undefined ? null : (
        <Text size="sm" mt={4} role="alert" style={{ overflowWrap: 'anywhere' }}>
          {error}
        </Text>
      )}
      {accessNote === undefined ? null : (
        <Text size="sm" mt={4} c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {accessNote}
        </Text>
      )}
      {isChoosing ? <Choose connection={connection} onClose={() => setChoosing(false)} onChanged={onChanged} /> : null}
    </Card>
  );
}

const STATES: Readonly<Record<string, readonly [string, string]>> = {
  ok: ['in step', 'green'],
  degraded: ['not all of it', 'orange'],
  syncing: ['syncing', 'blue'],
};

function State({ connection }: { readonly connection: Connection }) {
  const { connected, syncStatus, selected } = connection;
  const unsynced = [selected?.length === 0 ? 'nothing chosen yet' : 'not synced yet', 'gray'] as const;
  const state = isAccount(connection) ? (['connected', 'green'] as const) : (STATES[syncStatus ?? ''] ?? unsynced);
  const [label, color] = connected ? state : ['disconnected', 'red'];
  return <StateBadge color={color}>{label}</StateBadge>;
}

/** Progress of the import under way. */
function Going({ connection: { progress, waitingUntil } }: { readonly connection: Connection }) {
  if (waitingUntil !== undefined) {
    return (
      <Text size="sm" mt={4}>
        The source asked to wait until {when(waitingUntil)}; it goes on by itself.
      </Text>
    );
  }
  if (progress === undefined) return null;
  const { done, total } = progress;
  const part = total === null || total === 0 ? 100 : Math.min(100, (done / total) * 100);
  return (
    <Group gap="xs" mt="xs">
      <Progress value={part} animated style={{ flex: 1 }} aria-label="Progress of the import" />
      <Text size="xs" c="dimmed">
        {count(done)}
        {total === null ? ' looked at so far' : ` of ${count(total)}`}
      </Text>
    </Group>
  );
}

interface ChooseProps {
  readonly connection: Connection;
  onClose(): void;
  onChanged(): void;
}

/** The parts of a connection that are brought in, to choose from. */
function Choose({ connection, onClose, onChanged }: ChooseProps) {
  const { provider = '', connectionId = '', allowsAll } = connection;
  const target = { path: { provider }, query: { connectionId } };
  const found = useQuery({
    queryKey: ['resources', connectionId],
    queryFn: () => engram.get('/api/v1/integrations/{provider}/resources', target),
    select: ({ resources, selected, kinds }) => ({ options: resources, selected, kinds }),
    // A choice begins with what holds now, and does not change under the person who makes it.
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const save = async (selected: Chosen, kinds: readonly string[]) => {
    const hasKinds = found.data?.kinds !== undefined;
    const body = { resourceIds: selected && [...selected], ...(hasKinds ? { kinds: [...kinds] } : {}) };
    const work = async () => {
      await engram.put('/api/v1/integrations/{provider}/resources', { ...target, body });
      await engram.post('/api/v1/integrations/{provider}/sync', target);
    };
    if (await attempt(work, 'Saved. What is not chosen is being removed.')) onClose();
    onChanged();
  };
  return (
    <ChoiceDialog
      title="What is brought in"
      found={found}
      everything={allowsAll ? 'Everything, also what comes later' : null}
      action="Save and sync"
      onClose={onClose}
      onSave={(selected, kinds) => void save(selected, kinds)}
    />
  );
}

function askDisconnect(connection: Connection, onChanged: () => void): void {
  const { provider = '', connectionId = '', accountLabel = '', storedItems = 0, connected } = connection;
  // The provider has ended it: it is listed until somebody has read that.
  const [word, done] = connected ? ['Disconnect', 'Disconnected'] : ['Remove', 'Removed'];
  const disconnect = async (deleteData: boolean) => {
    const query = { connectionId, deleteData };
    const send = () => engram.delete('/api/v1/integrations/{provider}/connection', { path: { provider }, query });
    await attempt(send, `${done}. What was brought in ${deleteData ? 'is being erased' : 'stays'}.`);
    onChanged();
  };
  modals.open({
    title: `${word} ${accountLabel}?`,
    closeButtonProps: { 'aria-label': 'Close' },
    children: (
      <Stack>
        <Text size="sm">
          Memory does not follow it any more. What was brought in ({plural(storedItems, 'document')}) can stay.
        </Text>
        <Group justify="flex-end">
          {[false, true].map((deleteData) => (
            <Button
              key={String(deleteData)}
              color={deleteData ? 'red.8' : ''}
              variant={deleteData ? 'filled' : 'default'}
              onClick={() => {
                modals.closeAll();
                void disconnect(deleteData);
              }}
            >
              {deleteData ? `${word} and erase` : `${word}, keep it`}
            </Button>
          ))}
        </Group>
      </Stack>
    ),
  });
}
