CREATE TABLE `agent_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`name` text NOT NULL,
	`open_name` text,
	`started_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`admitted` integer DEFAULT 0 NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	`allowed_micros` integer DEFAULT 0 NOT NULL,
	`allowed_requests` integer DEFAULT 0 NOT NULL,
	`allowed_repeats` integer DEFAULT 0 NOT NULL,
	`stopped` text,
	`stopped_limit` integer,
	`stopped_spent` integer,
	`dropped_reasoning` integer DEFAULT 0 NOT NULL,
	`dropped` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agent_runs_open` ON `agent_runs` (`account_id`,`open_name`);--> statement-breakpoint
CREATE INDEX `agent_runs_account` ON `agent_runs` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `agent_runs_started` ON `agent_runs` (`started_at`);