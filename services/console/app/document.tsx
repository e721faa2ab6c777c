import { Alert, Button, Drawer, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { address, engram } from './api.ts';
import { IconDownload } from './icons.ts';
import { Failed, Waiting } from './states.tsx';

export interface OpenedDocument {
  readonly dataset: string;
  readonly item: string;
  readonly name: string;
  /** The text to show in it. */
  readonly passage?: string;
}

/** Where a passage stands in a text, whatever its spaces and line breaks are. */
function findPassage(text: string, passage: string): { readonly start: number; readonly end: number } | null {
  const words = passage.trim().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return null;
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+');
  const found = new RegExp(pattern, 'u').exec(text);
  return found === null ? null : { start: found.index, end: found.index + found[0].length };
}

/** A document with one of its passages marked. */
export function DocumentDrawer({
  opened,
  onClose,
}: {
  readonly opened: OpenedDocument | null;
  readonly onClose: () => void;
}) {
  return (
    <Drawer
      opened={opened !== null}
      onClose={onClose}
      position="right"
      size="xl"
      title={<Text fw={600}>{opened?.name}</Text>}
      closeButtonProps={{ 'aria-label': 'Close the document' }}
    >
      {opened === null ? null : <DocumentText {...opened} />}
    </Drawer>
  );
}

function DocumentText({ dataset, item, passage = '' }: OpenedDocument) {
  const text = useQuery({
    queryKey: ['text', dataset, item],
    queryFn: () =>
      engram.get('/api/v1/datasets/{dataset_id}/data/{data_id}/raw', { path: { dataset_id: dataset, data_id: item } }),
  });
  const show = useCallback((mark: HTMLElement | null): void => {
    mark?.scrollIntoView({ block: 'center' });
  }, []);
  if (text.isPending) return <Waiting />;
  if (text.isError) return <Failed error={text.error} onRetry={() => void text.refetch()} />;
  const place = findPassage(text.data, passage);
  return (
    <>
      <Group mb="sm">
        {[
          { kind: 'raw', label: 'Download the text' },
          { kind: 'original', label: 'Download the original' },
        ].map(({ kind, label }) => (
          <Button
            key={kind}
            component="a"
            href={address(`/datasets/${dataset}/data/${item}/${kind}`)}
            download
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} />}
          >
            {label}
          </Button>
        ))}
      </Group>
      {passage !== '' && place === null ? (
        <Alert color="yellow" mb="sm">
          The passage is no longer in this form in the document.
        </Alert>
      ) : null}
      <div className="document">
        {place === null ? (
          text.data
        ) : (
          <>
            {text.data.slice(0, place.start)}
            <mark ref={show}>{text.data.slice(place.start, place.end)}</mark>
            {text.data.slice(place.end)}
          </>
        )}
      </div>
    </>
  );
}
