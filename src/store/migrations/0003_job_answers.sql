CREATE TABLE `job_answers` (
	`job_id` text NOT NULL,
	`url_key` text NOT NULL,
	`asked` text NOT NULL,
	`url` text NOT NULL,
	`status` integer NOT NULL,
	`headers` text NOT NULL,
	`body` blob NOT NULL,
	PRIMARY KEY(`job_id`, `url_key`, `asked`),
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
