import { Alert, Button, Checkbox, Group, List, Progress, Stack, Tabs, Text, Textarea, TextInput } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { UploadProgress } from '../../../client/index.ts';
import { engram, messageOf } from '../api.ts';
import { bytes, plural } from '../format.ts';
import { IconCheck, IconUpload, IconX } from '../icons.ts';
import { afterRun } from '../queries.ts';
import { complain } from '../states.tsx';

interface Sending {
  readonly key: number;
  readonly name: string;
  readonly size: number;
  readonly share: number;
  readonly state: 'waiting' | 'sending' | 'reading' | 'added' | 'known' | 'failed';
  readonly error?: string;
}

/** How many files are sent at the same time. */
const AT_ONCE = 2;

const STATES: Readonly<Record<Sending['state'], string>> = {
  waiting: 'waiting',
  sending: 'sending',
  reading: 'being read',
  added: 'added',
  known: 'was there already',
  failed: 'failed',
};

export async function build(dataset: string): Promise<void> {
  await engram.post('/api/v1/cognify', { body: { dataset_ids: [dataset], run_in_background: true } });
}

/** Adds documents to a dataset: files, a text, a web page. */
export function AddPanel({ dataset }: { readonly dataset: string }) {
  const client = useQueryClient();
  const [sendings, setSendings] = useState<readonly Sending[]>([]);
  const [builds, setBuilds] = useState(true);
  const [text, setText] = useState('');
  const [url, setUrl] = useState('');
  const keys = useRef(0);
  const active = useRef(0);
  const isBusy = sendings.some(({ state }) => state === 'waiting' || state === 'sending' || state === 'reading');

  const change = (key: number, patch: Partial<Sending>) =>
    setSendings((all) => all.map((each) => (each.key === key ? { ...each, ...patch } : each)));

  const sendOne = async (key: number, input: Blob | string): Promise<boolean> => {
    change(key, { state: 'sending' });
    try {
      const onUploadProgress = ({ sentBytes, totalBytes }: UploadProgress) =>
        change(key, {
          share: totalBytes === 0 ? 1 : sentBytes / totalBytes,
          state: sentBytes < totalBytes ? 'sending' : 'reading',
        });
      const { data_ingestion_info: items } = await engram.add(input, dataset, { onUploadProgress });
      const isKnown = items?.every(({ run_info: info }) => info['status'] === 'PipelineRunAlreadyCompleted') ?? false;
      change(key, { state: isKnown ? 'known' : 'added', share: 1 });
      return true;
    } catch (error) {
      change(key, { state: 'failed', error: messageOf(error) });
      return false;
    }
  };

  /** Sends all, a few at a time, and builds when the last one has come. */
  const sendAll = async (
    entries: readonly { readonly name: string; readonly size: number; readonly input: Blob | string }[],
  ) => {
    const queue = entries.map((entry) => {
      keys.current += 1;
      return { ...entry, key: keys.current };
    });
    const waiting = queue.map(({ key, name, size }): Sending => ({ key, name, size, share: 0, state: 'waiting' }));
    setSendings((all) => [...all.filter(({ state }) => state === 'failed' || isBusy), ...waiting]);
    active.current += 1;
    let added = 0;
    const work = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (await sendOne(next.key, next.input)) added += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    active.current -= 1;
    if (added > 0 && builds && active.current === 0) await build(dataset).catch(complain);
    afterRun(client);
  };

  const addString = (value: string, name: string) => sendAll([{ name, size: value.length, input: value }]);

  return (
    <Stack gap="sm">
      <Tabs defaultValue="files" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="files">Files</Tabs.Tab>
          <Tabs.Tab value="text">Text</Tabs.Tab>
          <Tabs.Tab value="url">Web page</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="files" pt="sm">
          <Dropzone
            onDrop={(files) => void sendAll(files.map((file) => ({ name: file.name, size: file.size, input: file })))}
            inputProps={{ 'aria-label': 'Files to add' }}
            aria-label="Drop files here, or press Enter to choose them"
          >
            <Group justify="center" gap="sm" mih={72} style={{ pointerEvents: 'none' }}>
              <IconUpload size={24} />
              <div>
                <Text fw={500}>Drop files here, or click to choose them</Text>
                <Text size="sm" c="dimmed">
                  PDF, Word, Excel, PowerPoint, HTML, Markdown, CSV, JSON, e-mail, source code, plain text
                </Text>
              </div>
            </Group>
          </Dropzone>
        </Tabs.Panel>
        <Tabs.Panel value="text" pt="sm">
          <Stack gap="xs" align="flex-start">
            <Textarea
              w="100%"
              label="Text"
              placeholder="Paste or write a text"
              autosize
              minRows={4}
              maxRows={14}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button
              disabled={text.trim() === ''}
              onClick={() => {
                void addString(text, `“${text.trim().slice(0, 40)}”`);
                setText('');
              }}
            >
              Add the text
            </Button>
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="url" pt="sm">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void addString(url.trim(), url.trim());
              setUrl('');
            }}
          >
            <Stack gap="xs" align="flex-start">
              <TextInput
                w="100%"
                label="Address"
                type="url"
                placeholder="https://example.com/article"
                value={url}
                onChange={(event) => setUrl(event.currentTarget.value)}
              />
              <Button type="submit" disabled={!/^https?:\/\/\S+$/i.test(url.trim())}>
                Add the page
              </Button>
            </Stack>
          </form>
        </Tabs.Panel>
      </Tabs>
      <Checkbox
        label="Build the graph when the documents are added"
        checked={builds}
        onChange={(event) => setBuilds(event.currentTarget.checked)}
      />
      {sendings.length === 0 ? null : <Sendings sendings={sendings} isBusy={isBusy} onClear={() => setSendings([])} />}
    </Stack>
  );
}

interface SendingsProps {
  readonly sendings: readonly Sending[];
  readonly isBusy: boolean;
  onClear(): void;
}

function Sendings({ sendings, isBusy, onClear }: SendingsProps) {
  const failed = sendings.filter(({ state }) => state === 'failed').length;
  // What went wrong is seen without scrolling.
  const shown = isBusy
    ? sendings
    : sendings.toSorted((a, b) => Number(b.state === 'failed') - Number(a.state === 'failed'));
  const title = isBusy
    ? `Adding ${plural(sendings.length, 'document')}`
    : failed === 0
      ? `${plural(sendings.length, 'document')} done`
      : `${failed} of ${plural(sendings.length, 'document')} could not be added`;
  return (
    <Alert
      color={failed > 0 ? 'red' : isBusy ? 'indigo' : 'teal'}
      variant="outline"
      title={title}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
      withCloseButton={!isBusy}
      closeButtonLabel="Close the list"
      onClose={onClear}
      aria-live="polite"
    >
      <List listStyleType="none" spacing={6} mah={260} style={{ overflow: 'auto' }} tabIndex={0}>
        {shown.map(({ key, name, size, share, state, error }) => (
          <List.Item key={key} styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}>
            <Group gap="xs" wrap="nowrap" justify="space-between">
              <Text size="sm" className="clip">
                {name}
              </Text>
              <Group gap={6} wrap="nowrap">
                {state === 'added' || state === 'known' ? <IconCheck size={14} /> : null}
                {state === 'failed' ? <IconX size={14} /> : null}
                <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                  {bytes(size)}, {STATES[state]}
                </Text>
              </Group>
            </Group>
            {state === 'sending' || state === 'reading' ? (
              <Progress value={share * 100} size="xs" animated={state === 'reading'} aria-label={`Upload of ${name}`} />
            ) : null}
            {error === undefined ? null : (
              <Text size="xs" c="red">
                {error}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
