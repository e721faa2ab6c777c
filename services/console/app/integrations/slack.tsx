import { Autocomplete, Button, Group, MultiSelect, NumberInput, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { plural } from '../format.ts';
import { FormDialog } from '../forms.tsx';
import { datasetsQuery, usePermitted } from '../queries.ts';
import { attempt, Failed } from '../states.tsx';
import { ChoiceDialog } from './choice.tsx';

type Connection = Answer<'/api/v1/integrations/connections', 'get'>['connections'][number];
type Following = Answer<'/api/v1/slack/history/{team_id}', 'get'>['sync'][string];
type Selection = NonNullable<Following['selection']>;

interface SlackProps {
  readonly connection: Connection;
  onChanged(): void;
}

const HOUR_SECONDS = 3600;
const DAY_MS = 24 * HOUR_SECONDS * 1000;
/** An import that is refused is refused within this time; one that goes on is shown in its card. */
const REFUSED_MS = 2000;

/** Whether a connection is a team of Slack, whose channels are brought in by connections of their own. */
export const isTeam = ({ provider, partOf, declaredAs }: Connection): boolean =>
  provider === 'slack' && partOf === undefined && declaredAs === undefined;

/** Buttons of a team: where the app may be used, and what is brought in. */
export function SlackTeam({ connection, onChanged }: SlackProps) {
  const [opened, setOpened] = useState<'channels' | 'history' | null>(null);
  const close = () => setOpened(null);
  const { connectionId = '' } = connection;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpened('channels')}>
        Channels
      </Button>
      <Button size="xs" variant="default" onClick={() => setOpened('history')}>
        Bring in history
      </Button>
      {opened === 'channels' ? <Channels connectionId={connectionId} onClose={close} /> : null}
      {opened === 'history' ? (
        <BringIn connection={connection} teamConnection={connectionId} onClose={close} onChanged={onChanged} />
      ) : null}
    </>
  );
}

/** How the last import into a dataset went, and whether another one follows by itself. */
export function SlackImport({ connection, onChanged }: SlackProps) {
  const { connectionId = '', partOf = '', datasetId = '', providerAccountId: team = '', syncStatus } = connection;
  const path = { team_id: team };
  const [isChanging, setChanging] = useState(false);
  const history = useQuery({
    queryKey: ['slack-history', team, connectionId, syncStatus, connection.lastSyncedAt],
    queryFn: () => engram.get('/api/v1/slack/history/{team_id}', { path }),
    placeholderData: (before) => before,
  });
  if (history.isPending) return null;
  if (history.isError) return <Failed error={history.error} onRetry={() => void history.refetch()} />;
  const { sync, reports, worker_enabled: isServed } = history.data;
  const following = sync[datasetId];
  const { result } = reports[datasetId] ?? {};
  const isFollowed = following?.enabled === true;
  const hours = plural((following?.interval_seconds ?? 0) / HOUR_SECONDS, 'hour');
  const rhythm = isServed ? `followed every ${hours}` : 'followed, but this server imports nothing by itself';
  const syncNow = async () => {
    const target = { path: { provider: 'slack' }, query: { connectionId } };
    await attempt(() => engram.post('/api/v1/integrations/{provider}/sync', target), 'The import has started.');
    onChanged();
  };
  const stop = async () => {
    const send = async () => {
      if (following === undefined) return;
      await engram.put('/api/v1/slack/history/{team_id}/sync', { path, body: { ...following, enabled: false } });
    };
    await attempt(send, 'It is no longer followed. What was brought in stays.');
    onChanged();
  };
  return (
    <>
      <Text size="sm" mt={4}>
        {isFollowed ? rhythm : 'brought in once'}
        {result === undefined
          ? ''
          : ` · last import: ${plural(result.messages, 'message')}, ${result.added} added, ${result.updated} updated, ${result.deleted} deleted`}
      </Text>
      {isFollowed ? (
        <Group gap="xs" mt="xs">
          <Button size="xs" variant="default" onClick={() => void syncNow()} disabled={syncStatus === 'syncing'}>
            Sync now
          </Button>
          <Button size="xs" variant="default" onClick={() => setChanging(true)}>
            Change
          </Button>
          <Button size="xs" variant="default" onClick={() => void stop()}>
            Stop following
          </Button>
        </Group>
      ) : null}
      {isChanging ? (
        <BringIn
          connection={connection}
          teamConnection={partOf}
          following={following}
          onClose={() => setChanging(false)}
          onChanged={onChanged}
        />
      ) : null}
    </>
  );
}

function useChannels(connectionId: string) {
  return useQuery({
    queryKey: ['slack-channels', connectionId],
    queryFn: () => engram.get('/api/v1/slack/channels', { query: { connectionId } }),
    select: ({ channels }) => ({
      options: channels.map(({ id, name, isPrivate, allowed }) => {
        return { id, name: `#${name}`, description: isPrivate ? 'private' : null, allowed };
      }),
      selected: channels.every(({ allowed }) => allowed)
        ? null
        : channels.flatMap((one) => (one.allowed ? one.id : [])),
    }),
    // A choice begins with what holds now, and does not change under the person who makes it.
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
}

function Channels({ connectionId, onClose }: { readonly connectionId: string; onClose(): void }) {
  const found = useChannels(connectionId);
  const save = async (selected: readonly string[] | null) => {
    const asked = { query: { connectionId }, body: { channelIds: [...(selected ?? [])] } };
    if (await attempt(() => engram.put('/api/v1/slack/channels', asked), 'Saved.')) onClose();
  };
  return (
    <ChoiceDialog
      title="Channels of Slack"
      hint="Where the commands of the app may be used, and which channels can be brought in."
      found={found}
      everything="Every channel, also new ones"
      needsOne
      action="Save"
      onClose={onClose}
      onSave={(selected) => void save(selected)}
    />
  );
}

interface BringInProps extends SlackProps {
  /** Id of the connection of the team. */
  readonly teamConnection: string;
  /** The standing import that is changed. */
  readonly following?: Following | undefined;
  onClose(): void;
}

/** Asks for an import of channels into a dataset, once or from now on. */
function BringIn({ connection, teamConnection, following, onClose, onChanged }: BringInProps) {
  const path = { team_id: connection.providerAccountId ?? '' };
  const [isSending, setSending] = useState(false);
  const channels = useChannels(teamConnection);
  const writable = usePermitted('write');
  const datasets = (useQuery(datasetsQuery).data ?? []).filter(({ id }) => writable.has(id));
  const form = useSelectionForm(connection, following);
  const submit = form.onSubmit(async ({ channels: channelIds, days, dataset, isFollowed, hours }) => {
    const send = async () => {
      const name = dataset.trim();
      const { id } =
        datasets.find((one) => one.name === name) ?? (await engram.post('/api/v1/datasets', { body: { name } }));
      const times = { days, oldest: null, latest: null };
      const selection = { ...following?.selection, ...times, dataset_id: id, channel_ids: channelIds };
      if (isFollowed) {
        const body = { enabled: true, selection, interval_seconds: hours * HOUR_SECONDS };
        await engram.put('/api/v1/slack/history/{team_id}/sync', { path, body });
      } else {
        await begun(engram.post('/api/v1/slack/history/{team_id}/import', { path, body: selection }));
      }
    };
    setSending(true);
    if (await attempt(send, 'It is being brought in.')) onClose();
    setSending(false);
    onChanged();
  });
  const options = channels.data?.options.filter(({ allowed }) => allowed) ?? [];
  return (
    <FormDialog
      title="Bring in history of Slack"
      action={following === undefined ? 'Bring in' : 'Save'}
      opened
      isSending={isSending}
      onClose={onClose}
      onSubmit={submit}
    >
      {channels.isError ? <Failed error={channels.error} onRetry={() => void channels.refetch()} /> : null}
      <MultiSelect
        label="Channels"
        description="The app has to be in them: /invite it in Slack"
        data={options.map(({ id, name }) => ({ value: id, label: name }))}
        searchable
        maxValues={50}
        nothingFoundMessage="No such channel, or not allowed"
        data-autofocus
        {...form.getInputProps('channels')}
      />
      <NumberInput label="Days back" min={1} max={3650} allowDecimal={false} {...form.getInputProps('days')} />
      <Autocomplete
        label="Dataset"
        description="It is made if there is none of this name"
        data={[...new Set(datasets.map(({ name }) => name))]}
        disabled={following !== undefined}
        {...form.getInputProps('dataset')}
      />
      {following === undefined ? (
        <Switch
          label="Follow from now on"
          description="New, changed and deleted messages"
          {...form.getInputProps('isFollowed', { type: 'checkbox' })}
        />
      ) : null}
      {form.values.isFollowed ? (
        <NumberInput label="Hours between imports" min={1} max={168} {...form.getInputProps('hours')} />
      ) : null}
    </FormDialog>
  );
}

function useSelectionForm({ datasetName = 'slack' }: Connection, following: Following | undefined) {
  const {
    oldest = null,
    channel_ids: channels = [],
    threads = [],
    thread_links: links = [],
  }: Partial<Selection> = following?.selection ?? {};
  return useForm({
    initialValues: {
      channels,
      days: oldest === null ? 30 : Math.max(1, Math.round((Date.now() - Date.parse(oldest)) / DAY_MS)),
      dataset: datasetName,
      isFollowed: following !== undefined,
      hours: (following?.interval_seconds ?? 6 * HOUR_SECONDS) / HOUR_SECONDS,
    },
    validate: {
      channels: (value) => (value.length + threads.length + links.length === 0 ? 'Choose a channel' : null),
      days: (value) => (value >= 1 ? null : 'A number of days'),
      dataset: (value) => (value.trim() === '' ? 'Give it a name' : null),
      hours: (value, { isFollowed }) => (isFollowed && !(value >= 1) ? 'A number of hours' : null),
    },
  });
}

/** Resolves when an import has ended, or has gone on for a while; rejects when it was refused. */
async function begun(imported: Promise<unknown>): Promise<void> {
  const later = new Promise((resolve) => setTimeout(resolve, REFUSED_MS));
  const error = await Promise.race([
    imported.then(
      () => null,
      (failure: unknown) => failure,
    ),
    later,
  ]);
  if (error instanceof Error) throw error;
}
