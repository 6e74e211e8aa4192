// What the page knows and what it can ask for: the store as the views see it.
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { Job, JobEventMessage, JobForm, ModelDetails, OrreryClient } from '../../../src/protocol/index.js';

/** Newest preview of a running job. */
export interface Preview {
  readonly step: number;
  readonly steps: number;
  /** Data URL. */
  readonly image: string;
  readonly width: number;
  readonly height: number;
  readonly final: boolean;
}

/** A job as the page knows it. */
export interface JobState {
  /** As the server last described it, with what the events have said since. */
  readonly record: Job;
  readonly secondsLeft: number | null;
  readonly preview: Preview | null;
}

/** Whether the line to the server stands; `locked`: it asks for a key. */
export type Connection = 'connecting' | 'live' | 'lost' | 'locked';

/** A short message at the edge of the page. */
export interface Toast {
  readonly id: number;
  readonly kind: 'info' | 'success' | 'error';
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

/** Messages that are shown. */
export interface Toasts {
  readonly shown: ReadonlySignal<readonly Toast[]>;
  show(toast: Omit<Toast, 'id'>): void;
  /** Shows what went wrong in its own words. */
  error(error: unknown): void;
  dismiss(id: number): void;
}

export type Theme = 'system' | 'light' | 'dark';

/** What a person has set for this browser. */
export interface Settings {
  readonly theme: Signal<Theme>;
  /** Whether to send a notification when a job is done and the page is not looked at. */
  readonly notifies: Signal<boolean>;
  readonly favourites: ReadonlySignal<ReadonlySet<string>>;
  toggleFavourite(id: string): void;
}

/** The request of an older job, to start from. */
export interface Again {
  readonly job: Job;
  /** Wire name of the field to look at first. */
  readonly focus: string | undefined;
}

/** The page's only way to the server, and what it holds. */
export interface Store {
  /** Client with the key of the session. */
  readonly client: OrreryClient;
  /** A route that the client does not have. @throws OrreryClientError for a reply that is no success */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** The same, for a JSON reply. */
  json<Body>(path: string, init?: RequestInit): Promise<Body>;
  /** Model that is served; null until it is known. */
  readonly model: ReadonlySignal<ModelDetails | null>;
  readonly connection: ReadonlySignal<Connection>;
  /** Uses another key from now on, and connects again. */
  setKey(key: string): void;
  /** Jobs that the page knows, kept up to date by events. A new map for each change. */
  readonly jobs: ReadonlySignal<ReadonlyMap<string, JobState>>;
  /** One job; the same signal for the same id. */
  job(id: string): ReadonlySignal<JobState | undefined>;
  /** Looks a job up. @throws OrreryClientError 404 */
  load(id: string): Promise<JobState>;
  /** Told of every event of every job. Returns how to stop. */
  onEvent(listener: (message: JobEventMessage) => void): () => void;
  /** Counts the times that the line was opened again and the newest jobs listed again. */
  readonly resyncs: ReadonlySignal<number>;
  /** Ids of the jobs that this tab has made, newest first. */
  readonly mine: ReadonlySignal<readonly string[]>;
  /** Makes a job; tried again while the server cannot be reached, without making it twice. */
  submit(form: JobForm): Promise<Job>;
  cancel(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  readonly toasts: Toasts;
  readonly settings: Settings;
  /** Starts the form from an older job and shows it. */
  again(job: Job, focus?: string): void;
  /** Starts the form from a picture alone and shows it. */
  begin(picture: File): void;
  /** What `begin` was given, until the form has taken it. */
  readonly pendingPicture: Signal<File | null>;
  /** What `again` was given, until the form has taken it. */
  readonly pendingAgain: Signal<Again | null>;
}
