CREATE TABLE `project_members` (
	`project_id` text NOT NULL,
	`account_id` text NOT NULL,
	`role` text NOT NULL,
	`provider` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `account_id`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `project_members_account` ON `project_members` (`account_id`);--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`rpm` integer,
	`tpm` integer,
	`parallel` integer,
	`models` text,
	`budget_micros` integer,
	`budget_period_ms` integer,
	`budget_window_start` integer,
	`spent_micros` integer DEFAULT 0 NOT NULL,
	`run_micros` integer,
	`run_requests` integer,
	`run_repeats` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `projects_account` ON `projects` (`account_id`);