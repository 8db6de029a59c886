CREATE TABLE `account_budgets` (
	`account_id` text PRIMARY KEY NOT NULL,
	`own` integer NOT NULL,
	`limit_micros` integer,
	`period_ms` integer,
	`window_start` integer NOT NULL,
	`spent_micros` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
