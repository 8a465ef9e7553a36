/** The JavaScript client library of Callboard: see callboard.js for an example. */

export type { Laser, Sonar, Position, Bumper, Fiducial, Power, GPS, IMU, Blobfinder, Gripper, Localize } from "./readings.js";

/** What a subscription asks for. What is left out has its default. */
export interface Spec {
  /** Default: one that is free. */
  id?: string;
  condition: string;
  /** Names or patterns; none means all. */
  robots?: string[];
  /** "laser:0", "laser", or patterns of them; none means all. */
  devices?: string[];
  /** Each matching reading (the default); when it becomes true; its state whenever it changes. */
  trigger?: "every" | "rising" | "change";
  /** s, of the readings' time, per robot. */
  min_interval?: number;
  /** s that the condition must hold. */
  for?: number;
  /** Name to expression, sent instead of the reading. */
  select?: Record<string, string>;
  /** Of what waits everything (the default), or only the newest per robot and device. */
  keep?: "all" | "latest";
}

/** A subscription inside a notification. */
export interface Match {
  id: string;
  /** For trigger change. */
  state?: boolean;
  /** For select. A number that is not finite is null. */
  values?: Record<string, any>;
}

/** A reading that matched. seq is the last one of its source that was given + 1 + skipped. */
export interface Notification {
  type: "notification";
  source: string;
  seq: number;
  skipped?: number;
  robot: string;
  /** Player's name. */
  interface: string;
  index: number;
  /** s, as Player gives it. */
  time: number | null;
  subscriptions: Match[];
  /** Unless all subscriptions select: the object that conditions see, a Laser, Sonar, Position, … */
  reading?: any;
}

/** Notifications from to to could not be kept. Without to the source's sequence has ended, and next follows it. */
export interface Gap {
  type: "gap";
  source: string;
  from: number;
  to?: number;
  why: string;
  next?: string;
}

/** A robot, or one device of it, came or went, or readings of it were lost. */
export interface Robot {
  type: "robot";
  robot: string;
  device?: string;
  source: string;
  state: "up" | "away" | "overflow";
  lost?: number;
  since: number;
}

/** An error that the broker reports later on. ended: the subscription is no more. */
export interface Failure {
  type: "failure";
  id: string | null;
  code: string;
  message: string;
  position: { line: number; column: number } | null;
  ended: boolean;
  error: CallboardError;
}

/** A number that breaks the protocol. The client goes on with what comes. */
export interface Fault {
  type: "fault";
  source: string;
  reason: string;
}

/** A subscription is in force again after a resume. */
export interface Resubscribed {
  type: "resubscribed";
  id: string;
  sources: string[];
  robots: number;
  warning?: string;
}

/** The client is attached to a broker now. resumed: its session goes on. */
export interface Attached {
  type: "attached";
  url: string;
  broker: string;
  session: string;
  attachment: number;
  resumed: boolean;
}

/** An attempt to move has failed: the client goes on at the broker before. */
export interface Stayed {
  type: "stayed";
  url: string;
  error: CallboardError;
}

/** The connection was lost; the client tries again. */
export interface Detached {
  type: "detached";
  url: string;
  error: CallboardError;
}

export type Event = Notification | Gap | Robot | Failure | Fault | Resubscribed | Attached | Stayed | Detached;

/** How the connection is. It ends with the last three; connect() begins again. */
export type Status =
  | { name: "connecting" }
  | { name: "attached"; broker: string; url: string; resumed: boolean }
  /** Lost; tries again at retryAt (ms, Unix). */
  | { name: "waiting"; retryAt: number; error: CallboardError }
  | { name: "closed" }
  /** Another program uses this client id. */
  | { name: "taken-over"; error: CallboardError }
  /** No broker lets it in. */
  | { name: "refused"; error: CallboardError };

/** What a later program needs to go on where this one is. */
export interface State {
  client: string;
  session: string;
  attachment: number;
  num: Record<string, number>;
  subscriptions: Spec[];
  away?: string[];
  unanswered?: number[];
  /** Of pairs of brokers the newest in which each served the client, by their URLs. */
  terms?: Record<string, number>;
}

/** A broker that the client knows of. */
export interface Broker {
  /** "" as long as it is not known. */
  id: string;
  url: string;
  configured: boolean;
  named: boolean;
  /** ms that it took to answer the last time; 0: it never did. */
  roundTrip: number;
  /** ms, Unix, when it last could not be reached or refused; 0: not since it took this client. */
  failed: number;
  taken: boolean;
}

export interface Config {
  /** Addresses ("host:port", ws://…, wss://…), best first. Those that a welcome names are known besides. */
  brokers: string[];
  /** The lasting id of this program. Default: a random one, which ends with the program. */
  client?: string;
  /** Attaches without an id: nothing is acknowledged, nor kept over a lost connection. Default no. */
  anonymous?: boolean;
  /** The secret that the broker asks for. */
  token?: string;
  /** Goes on where an earlier program was: what state() returned there, with its subscriptions. */
  resume?: State;
  /** Where the state outlives a page. A stored subscription goes on if it is subscribed again, by its id, before connect. */
  store?: { load(): unknown; save(state: State): void };
  /**
   * Says which brokers to be attached to, best first: asked when one was lost
   * (current is "") and when a welcome has named some. Nothing means the default:
   * stay as long as the current one lives; then the others, nearest first.
   */
  choose?(current: string, known: Broker[]): string[] | null | undefined;
  /** Of a pair of brokers, of which one takes over: has a second connection listen at the side that it does not hang on. Default yes. */
  sides?: boolean;
  /** Speaks CBOR: numbers that are not finite come as themselves, not as null. Default JSON. */
  cbor?: boolean;
  /** ms for each connecting, and for the wait for welcome. Default 10,000. */
  connectTimeout?: number;
  /** ms, least and most between rounds of attempts. Default [100, 5000]. */
  backoff?: [number, number];
  /** Acknowledgements go out after so many notifications, so many characters, or so many ms. Default 64, 256 Ki and 100. */
  ackCount?: number;
  ackBytes?: number;
  ackDelay?: number;
  /** Bounds of what has come and is not handled; beyond them the connection is dropped, and resumed when half is handled. Default 65,536 and 64 Mi. */
  queueCount?: number;
  queueBytes?: number;
  /** Default: globalThis.WebSocket. */
  WebSocket?: any;
}

/** What a subscription's owner wants to hear besides the client's events. Promises are waited for. */
export interface Handlers {
  notify?(notification: Notification, match: Match): unknown;
  /** After each answer of a broker: sources, robots and warning are new. */
  changed?(subscription: Subscription): void;
  /** What the broker says later on. */
  error?(error: CallboardError, ended: boolean): void;
}

export class Subscription {
  private constructor();
  readonly id: string;
  /** As the broker has it. */
  readonly spec: Spec;
  /** That it is in force at, those known so far. */
  readonly sources: string[];
  /** How many match now, as far as known. */
  readonly robots: number;
  /** Nobody has registered what it asks for. */
  readonly warning: string;
  /** Changes what is given; nothing missed, nothing twice. A bad update changes nothing. */
  update(changes: Partial<Omit<Spec, "id">>): Promise<Subscription>;
  unsubscribe(): Promise<null>;
}

/** A robot's command: one device, a name and its arguments. */
export interface Command {
  robot: string;
  name: string;
  args?: unknown[];
  interface?: string;
  index?: number;
  /** s that it may wait for the robot. */
  ttl?: number;
  /** A lasting name, unique for this client: it is carried out once, whatever becomes of connections and brokers meanwhile. */
  key?: string;
}

/** How a task is asked for. */
export interface RequestOptions {
  /** s that it may wait and take. Default 10. */
  ttl?: number;
  /** Its lasting name, unique for this client: the same key again, also of a later program with the same client id, is the same task. Default: a random one. */
  key?: string;
  /** Cancels it. */
  signal?: AbortSignal;
  /** It is stored, and so many are before it. */
  accepted?(ahead: number): void;
  /** How it comes on, as its server tells. */
  progress?(progress: any): void;
}

/** A task that a server has in hand. */
export interface Task {
  /** A lasting word. */
  readonly name: string;
  readonly queue: string;
  /** The client that asked; "": one without an id. */
  readonly from: string;
  readonly body: any;
  /** Somebody had it in hand before, perhaps this program. */
  readonly again: boolean;
  /** Aborted when the task's time is over, when it is cancelled, and with the client. */
  readonly signal: AbortSignal;
  /** Tells who asked how it comes on. Of what a slow connection keeps waiting the newest stands. */
  progress(progress: unknown): void;
}

/** A queue that a client serves. */
export interface Server {
  readonly queue: string;
  /** Why it has ended; null while it goes on. */
  readonly error: CallboardError | null;
  /** Resolves with that when the broker has refused the queue, or the client has ended. */
  readonly ended: Promise<CallboardError>;
  /** Takes no further tasks, and resolves when those in hand are done. Not to be waited for by the handler. */
  stop(): Promise<void>;
}

export class Client {
  constructor(config: Config);
  /** Makes a client and attaches it. That no broker takes it is an error at once. */
  static dial(config: Config): Promise<Client>;

  /** Attaches, and again whenever the connection is lost. While it waits, it tries at once. */
  connect(): void;
  /** Ends it: what was handled is acknowledged, and the subscriptions of a random id end. */
  close(): void;

  readonly status: Status;
  readonly id: string;
  readonly session: string;
  readonly attachment: number;
  /** What the broker said last in welcome. */
  readonly welcome: { broker: string; heartbeat: number; window: number; brokers: { id: string; url: string }[]; term?: number; sides?: { url: string }[] } | null;
  readonly subscriptions: Map<string, Subscription>;
  readonly known: Broker[];
  state(): State;

  /**
   * Calls handler with each event of a type, or with each status, and returns what
   * ends that. Events come one at a time; a notification is acknowledged when all
   * that have it are done with it, promises included. Until somebody listens they wait.
   */
  on<T extends Event["type"]>(type: T, handler: (event: Extract<Event, { type: T }>) => unknown): () => void;
  on(type: "status", handler: (status: Status) => void): () => void;

  /** All events, to one reader. An event is handled when the next one is asked for. It ends with close(), and throws what ended the client otherwise. */
  events(): AsyncGenerator<Event, void, void>;

  /** Resolves when the subscription is in force, or rejects with the broker's error. It goes on over lost connections. */
  subscribe(spec: Spec, handlers?: Handlers): Promise<Subscription>;
  /**
   * Sends a command, once attached. It is never sent twice: a connection that is
   * lost before the answer is an error (lost); unless it has a key.
   */
  command(command: Command, options?: { signal?: AbortSignal }): Promise<any>;
  /**
   * Has a program that serves the queue do a task, and resolves with its answer. It
   * lasts over lost connections, roams and brokers that are killed. It rejects with
   * how the task has ended otherwise: failed (the server's own error), expired,
   * cancelled, unavailable, overloaded; with the signal's reason if that cancels it.
   */
  request(queue: string, body?: unknown, options?: RequestOptions): Promise<any>;
  /**
   * Does the tasks of a queue, up to atOnce at a time (1 if left out, at most 1,000),
   * until stop. What the handler returns, or its promise resolves with, is the
   * answer; what it throws is told as the reason why there is none.
   */
  serve(queue: string, handler: (task: Task) => unknown, options?: { atOnce?: number }): Server;
  list(what: "robots" | "brokers" | "subscriptions", options?: { signal?: AbortSignal }): Promise<any>;
  /** Hands over to another broker, and resolves when that has taken the client. Another move replaces it (overtaken). */
  move(url: string): Promise<void>;
}

/** What a broker, or the connection, could not do. */
export class CallboardError extends Error {
  /** As in the protocol, or taken_over, closed, lost, overtaken. */
  readonly code: string;
  /** In a condition, characters from 1. */
  readonly position: { line: number; column: number } | null;
  readonly id: string | null;
  readonly attachment: number | null;
}

/** Completes a broker's address: "host:port" becomes "ws://host:port/ws". */
export function brokerURL(text: string): string;
